"""Replays active learning on labelled solutions, and compares it with a random draw."""
