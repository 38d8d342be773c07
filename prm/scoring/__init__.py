"""Scores of steps and solutions from a trained model, or from a backbone with no labels at all."""

from prm.scoring.scorer import Scorer
from prm.scoring.session import Session

__all__ = ["Scorer", "Session"]
