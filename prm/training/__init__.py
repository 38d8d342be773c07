"""Trains a PRM on labelled traces, from a file of traces to a model folder."""

from prm.training.run import train

__all__ = ["train"]
