"""Intervals by resampling whole problems: solutions of one problem are not independent."""

from collections.abc import Callable, Mapping

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
CELLS = 500_000  # weights held at once, so that they stay in the processor's cache


class Metric(msgspec.Struct, frozen=True):
    """A value with its 95 % interval; None if the data do not allow it."""

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
