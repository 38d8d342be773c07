"""Processes beside the worker: their watch, their locks, and who goes first."""
