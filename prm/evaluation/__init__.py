"""How well scores find errors: reports with intervals, and one model against another. No torch."""

from prm.evaluation.columns import predicted_first_error
from prm.evaluation.comparison import Comparison, compare
from prm.evaluation.report import Report, Slice, StepSlice, evaluate
from prm.evaluation.resampling import Metric

__all__ = [
    "Comparison",
    "Metric",
    "Report",
    "Slice",
    "StepSlice",
    "compare",
    "evaluate",
    "predicted_first_error",
]
