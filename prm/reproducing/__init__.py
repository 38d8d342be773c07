"""Measures heads on a frozen backbone across sets of labelled solutions, beside scores that need no labels."""
