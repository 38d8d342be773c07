"""Evaluates how well scores find errors, with intervals, and compares models. No torch."""

from prm.evaluation.metrics import Metric
from prm.evaluation.report import Comparison, Report, Slice, StepSlice, compare, evaluate

__all__ = [
    "Comparison",
    "Metric",
    "Report",
    "Slice",
    "StepSlice",
    "compare",
    "evaluate",
]
