"""Ranking and calibration metrics with weights, so that a bootstrap is only another weight vector. numpy only."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
ECE_BINS = 10


def auroc(scores: Array, positive: Array, weights: Array) -> float:
    """Weighted probability that a positive outranks a negative, ties half; nan where a class is missing.

    `positive` is 1 or 0; all three arrays are [n].
    """
    at_positive, at_negative = _by_score(scores, positive, weights)
    total = at_positive.sum() * at_negative.sum()
    if total <= 0:
        return float("nan")
    below = np.cumsum(at_negative) - at_negative
    return float((at_positive * (below + at_negative / 2)).sum() / total)


def average_precision(scores: Array, positive: Array, weights: Array) -> float:
    """Area under precision and recall by steps (no interpolation), ties taken together; nan without positives."""
    at_positive, at_negative = _by_score(scores, positive, weights)
    found = np.cumsum(at_positive[::-1])
    taken = found + np.cumsum(at_negative[::-1])
    if not len(found) or found[-1] <= 0:
        return float("nan")
    precision = np.divide(found, taken, out=np.zeros_like(found), where=taken > 0)
    return float((precision * at_positive[::-1]).sum() / found[-1])


def expected_calibration_error(p: Array, outcome: Array, weights: Array) -> float:
    """Weighted mean of |mean p - mean outcome| over equal-width bins of p; nan without weight."""
    if weights.sum() <= 0:
        return float("nan")
    bins = np.minimum((p * ECE_BINS).astype(int), ECE_BINS - 1)
    gaps = np.bincount(bins, weights * (p - outcome), ECE_BINS)
    return float(np.abs(gaps).sum() / weights.sum())


def brier(p: Array, outcome: Array, weights: Array) -> float:
    """Weighted mean squared error of p; nan without weight."""
    return float((weights * (p - outcome) ** 2).sum() / weights.sum()) if weights.sum() > 0 else float("nan")


def harmonic_mean(a: float, b: float) -> float:
    """2ab / (a + b); 0 where both are 0, nan where either is."""
    return 2 * a * b / (a + b) if a + b != 0 else 0.0


def _by_score(scores: Array, positive: Array, weights: Array) -> tuple[Array, Array]:
    """Weight of positives and of negatives at each distinct score, ascending."""
    _, place = np.unique(scores, return_inverse=True)
    size = int(place.max(initial=-1)) + 1
    at_positive, at_negative = (np.bincount(place, weights * which, size) for which in (positive, 1 - positive))
    return at_positive.astype(float), at_negative.astype(float)
