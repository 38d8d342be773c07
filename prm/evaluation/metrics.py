"""Metrics of ranking and calibration with intervals, computed for many weightings at once. numpy only.

Intervals resample whole problems, since solutions to one problem are not independent. `weights` is [n] or [draws, n],
and a metric is a number or [draws]. A metric is nan under weights that do not define it (no positive, no weight). As
text it has three decimals without the leading zero, and its interval in brackets.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.messages import write_share

Array = NDArray[np.floating]
CELLS = 500_000  # weights held at once, so that they stay in the processor's cache


class Metric(msgspec.Struct, frozen=True):
    """A value with its 95 % interval; None if the data do not allow it."""

    value: float | None
    low: float | None
    high: float | None


def draws_of(n_problems: int, bootstrap: int, seed: int) -> Array:
    """The count of each problem in each resample, [1 + bootstrap, problems]; the first row is all ones."""
    if not n_problems:
        return np.ones((1 + bootstrap, 0), dtype=np.float32)
    rng = np.random.default_rng(seed)
    drawn = rng.multinomial(n_problems, np.full(n_problems, 1 / n_problems), size=bootstrap)
    return np.vstack([np.ones((1, n_problems)), drawn]).astype(np.float32)  # counts: exact in float32


def resample(
    measure: Callable[[Array], Mapping[str, Array]], draws: Array, problem: NDArray[np.int64]
) -> dict[str, Metric]:
    """The metrics of rows of the problems `problem` [n]; `measure` maps weights [draws, n] to [draws] by name."""
    size = max(1, CELLS // max(1, len(problem)))
    parts = [measure(draws[start : start + size, problem]) for start in range(0, len(draws), size)]
    return {name: as_metric(np.concatenate([part[name] for part in parts])) for name in parts[0]}


def as_metric(samples: Array) -> Metric:
    """The first sample with the central 95 % of the others, ignoring nan."""
    value, drawn = float(samples[0]), samples[1:][~np.isnan(samples[1:])]
    if np.isnan(value):
        return Metric(None, None, None)
    if not len(drawn):
        return Metric(value, None, None)
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Metric(value, float(low), float(high))


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
    """ "12 %", or "-" if unknown."""
    return write_share(metric.value)


CALIBRATION_BINS = 10


def ranking(scores: NDArray[Any], positive: Array, weights: Array) -> tuple[Array, Array]:
    """AUROC and average precision of `scores` [n] for the class `positive` [n] (1 or 0).

    AUROC is the probability that a positive outranks a negative, counting ties half. Average precision is the area
    under the step function of precision over recall, with ties grouped.
    """
    order = np.argsort(scores, kind="stable")
    scores, hits = scores[order], np.flatnonzero(positive[order])
    if not len(hits):
        nothing = np.full(weights.shape[:-1], np.nan)
        return nothing, nothing
    weights = weights[..., order]
    # start, end and number of positives of each run of equal scores that contains a positive
    values, first = np.unique(scores[hits], return_index=True)
    start, end = (np.searchsorted(scores, values, side) for side in ("left", "right"))
    edges = np.unique(np.concatenate([[0], start, end]))
    between = np.add.reduceat(weights, edges[edges < len(scores)], axis=-1).astype(float)
    upto = np.concatenate([np.zeros_like(between[..., :1]), np.cumsum(between, axis=-1)], axis=-1)
    start, end = np.searchsorted(edges, start), np.searchsorted(edges, end)
    positives = np.add.reduceat(weights[..., hits], first, axis=-1).astype(float)
    total, n_positive = upto[..., -1:], positives.sum(axis=-1, keepdims=True)
    earlier = np.cumsum(positives, axis=-1) - positives
    below, level = upto[..., start] - earlier, upto[..., end] - upto[..., start] - positives
    above, taken = n_positive - earlier, total - upto[..., start]
    wins = (positives * (below + level / 2)).sum(axis=-1)
    precision = np.divide(above, taken, out=np.zeros_like(above), where=taken > 0)
    n_positive = n_positive[..., 0]
    auroc = divide(wins, n_positive * (total[..., 0] - n_positive))
    return auroc, divide((precision * positives).sum(axis=-1), n_positive)


def brier(p: Array, outcome: Array, weights: Array) -> Array:
    """Mean squared error of `p` [n] against `outcome` [n] (1 or 0)."""
    return divide(weights @ (p - outcome) ** 2, weights.sum(axis=-1))


def expected_calibration_error(p: Array, outcome: Array, weights: Array) -> Array:
    """Mean of |mean p - mean outcome| over ten bins of p of equal width, by their weight (Guo et al. 2017, eq. 3)."""
    gaps = weights @ (in_bins(p) * (p - outcome)[:, None])
    return divide(np.abs(gaps).sum(axis=-1), weights.sum(axis=-1))


def resampled_ece(p: Array, outcome: Array, draws: Array, problem: NDArray[np.int64]) -> Metric:
    """`expected_calibration_error` of rows [n] of the problems `problem` [n], with its interval."""
    return resample(lambda weights: {"": expected_calibration_error(p, outcome, weights)}, draws, problem)[""]


def in_bins(p: Array) -> Array:
    """The bin of equal width for each `p` [n], as [n, bins] of 1 and 0."""
    return np.eye(CALIBRATION_BINS)[np.minimum((p * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)]


def harmonic_mean(a: Array, b: Array) -> Array:
    """2ab / (a + b); 0 if both are 0, nan if either is nan."""
    total = a + b
    return np.where(total == 0, 0.0, divide(2 * a * b, total))


def divide(part: Array, whole: Array) -> Array:
    """part / whole; nan if the whole is 0."""
    part, whole = np.asarray(part, dtype=float), np.asarray(whole, dtype=float)
    return np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=whole != 0)
