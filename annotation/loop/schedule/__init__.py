"""Automatic rounds: schedule, new labels, drift."""
