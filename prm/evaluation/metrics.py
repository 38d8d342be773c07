"""Ranking and calibration metrics under many weightings at once, so that a bootstrap is one call. numpy only.

`weights` is [n] or [draws, n] throughout, and a metric has its leading shape: a number or [draws]. A weighting
without what a metric needs (no positive, no weight) gives nan.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating]
CALIBRATION_BINS = 10


def ranking(scores: NDArray[Any], positive: Array, weights: Array) -> tuple[Array, Array]:
    """AUROC and average precision of `scores` [n] for the class `positive` [n] (1 or 0).

    AUROC is the probability that a positive outranks a negative, ties half. Average precision is the area
    under precision and recall by steps, without interpolation, ties taken together.
    """
    order = np.argsort(scores, kind="stable")
    scores, found = scores[order], np.flatnonzero(positive[order])
    if not len(found):
        nothing = np.full(weights.shape[:-1], np.nan)
        return nothing, nothing
    weights = weights[..., order]
    # of each run of equal scores that holds a positive: where it starts, where it ends, its positives
    values, first = np.unique(scores[found], return_index=True)
    start, end = (np.searchsorted(scores, values, side) for side in ("left", "right"))
    edges = np.unique(np.concatenate([[0], start, end]))
    between = np.add.reduceat(weights, edges[edges < len(scores)], axis=-1).astype(float)
    upto = np.concatenate([np.zeros_like(between[..., :1]), np.cumsum(between, axis=-1)], axis=-1)
    start, end = np.searchsorted(edges, start), np.searchsorted(edges, end)
    positives = np.add.reduceat(weights[..., found], first, axis=-1).astype(float)
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
