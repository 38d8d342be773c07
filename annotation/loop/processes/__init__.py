"""Subprocesses of a worker: their supervision, the locks of GPUs, and the priority of rounds."""
