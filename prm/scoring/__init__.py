"""Scores of steps and solutions from a trained model, or from a backbone with no labels at all."""

from prm.scoring.scorer import Scorer

__all__ = ["Scorer"]
