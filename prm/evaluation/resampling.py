"""Intervals by resampling whole problems: solutions of one problem are not independent. And metrics as text.

As text a metric has three decimals without the leading zero, its interval in brackets. No torch.
"""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
CELLS = 500_000  # weights held at once, so that they stay in the processor's cache


class Metric(msgspec.Struct, frozen=True):
    """A value with its 95 % interval; None where the data cannot give it."""

    value: float | None
    low: float | None
    high: float | None


def draws_of(n_problems: int, bootstrap: int, seed: int) -> Array:
    """How often each problem counts: once each in the first row, then as drawn, [1 + bootstrap, problems]."""
    if not n_problems:
        return np.ones((1 + bootstrap, 0), dtype=np.float32)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n_problems, np.full(n_problems, 1 / n_problems), size=bootstrap)
    return np.vstack([np.ones((1, n_problems)), drawn]).astype(np.float32)  # counts: exact in float32


def resample(
    measure: Callable[[Array], Mapping[str, Array]], draws: Array, problem: NDArray[np.int64]
) -> dict[str, Metric]:
    """The metrics of rows that belong to `problem` [n]; `measure` takes weights [draws, n], gives [draws] by name."""
    size = max(1, CELLS // max(1, len(problem)))
    parts = [measure(draws[start : start + size, problem]) for start in range(0, len(draws), size)]
    return {name: as_metric(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def as_metric(samples: Array) -> Metric:
    """The first sample with the central 95 % of the others, those that are nan left out."""
    value, drawn = float(samples[0]), samples[1:][~np.isnan(samples[1:])]
    if np.isnan(value):
        return Metric(None, None, None)
    if not len(drawn):
        return Metric(value, None, None)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Metric(value, float(low), float(high))


def format_metric(metric: Metric, *, signed: bool = False) -> str:
    """ ".812 [.790, .834]", with signs for a difference; "-" where the data cannot give it."""
    return " ".join(part for part in in_parts(metric, signed=signed) if part)


def in_parts(metric: Metric, *, signed: bool = False) -> tuple[str, str]:
    """Value and interval apart: (".812", "[.790, .834]"); the second is empty where there is none."""
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
    """ "12%", or "-" where the data cannot give it."""
    return "-" if metric.value is None else f"{metric.value:.0%}"
