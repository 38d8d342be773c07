"""Starts and stops Stepmark's processes on one machine; imports nothing of the application."""
