"""Exports models as Hugging Face folders with a small head file, and imports such folders and other models."""
