"""How well scores find errors: reports with intervals, and one model against another. No torch."""

from prm.evaluation.report import Comparison, Metric, Report, Slice, compare, evaluate, predicted_first_error

__all__ = ["Comparison", "Metric", "Report", "Slice", "compare", "evaluate", "predicted_first_error"]
