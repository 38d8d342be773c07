"""Metrics as text: three decimals without the leading zero, intervals in brackets. No torch."""

from prm.evaluation.resampling import Metric


def format_metric(metric: Metric, *, signed: bool = False) -> str:
    """ ".812 [.790, .834]", with signs for a difference; "-" if unknown."""
    return " ".join(part for part in in_parts(metric, signed=signed) if part)


def in_parts(metric: Metric, *, signed: bool = False) -> tuple[str, str]:
    """Value and interval separately: (".812", "[.790, .834]"); the second is empty if unknown."""
    if metric.value is None:
        return "-", ""
    value = short(metric.value, signed=signed)
    if metric.low is None or metric.high is None:
        return value, ""
    return value, f"[{short(metric.low, signed=signed)}, {short(metric.high, signed=signed)}]"


def short(value: float, *, signed: bool = False) -> str:
    """ ".812", "-.040", "1.000", "10.250"."""
    text = f"{value:+.3f}" if signed else f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 0.9995 else text


def percent(metric: Metric) -> str:
    """ "12%", or "-" if unknown."""
    return "-" if metric.value is None else f"{metric.value:.0%}"
