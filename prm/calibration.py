"""Fits the temperature and the first-error threshold on held-out data. numpy only."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from prm.errors import DataError
from prm.labels import first_error
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import UNFITTED, Threshold
from prm.traces import Trace

Array = NDArray[np.float64]
GRID = 1000  # thresholds tried
USUAL_SHARE = 0.9  # of the solutions; those that are longer than these get a lower threshold


def fit_temperature(logits: Array, targets: Array, weights: Array) -> float:
    """The temperature that minimises cross-entropy of the heads' mean probability.

    `logits` [heads, steps]; `targets` and `weights` [steps]. Searched in [1/8, 8] on a log scale to 1 %.
    """
    if weights.sum() <= 0:
        return 1.0
    grid = np.exp(np.linspace(-np.log(8), np.log(8), 419))
    losses = []
    for temperature in grid:
        p = np.clip(mean_probability(logits, temperature), 1e-7, 1 - 1e-7)
        loss = -(targets * np.log(p) + (1 - targets) * np.log(1 - p))
        losses.append((loss * weights).sum() / weights.sum())
    return float(grid[int(np.argmin(losses))])


def mean_probability(logits: Array, temperature: float) -> Array:
    """Mean over heads of sigmoid(logit / temperature): [steps]."""
    return _sigmoid(logits / temperature).mean(axis=0)


def without_temperature(heads: Sequence[float], temperature: float) -> float:
    """The heads' mean probability before `temperature` divided their logits.

    A probability that was rounded to 0 or 1 is replaced by the nearest one that is neither.
    """
    p = np.clip(np.array(heads), 1e-300, 1 - 1e-16)
    return float(_sigmoid((np.log(p) - np.log1p(-p)) * temperature).mean())


def fit_threshold_on(traces: Iterable[Trace], scores: Iterable[TraceScore]) -> Threshold:
    """The `fit_threshold` of the traces with a known first error and a score for every step; `scores` are in order.

    Raises DataError unless these are of both kinds, erroneous and correct.
    """
    p, errors = [], []
    for trace, score in zip(traces, scores, strict=True):
        error = first_error(trace)
        if error is not None and len(score.mean) == len(trace.steps) and not score.unscored:
            p.append(np.array(score.mean, dtype=float))
            errors.append(error)
    if not any(error >= 0 for error in errors) or -1 not in errors:
        raise DataError(Message("threshold_needs_both_kinds"))
    return fit_threshold(p, errors)


def fit_threshold(scores: Sequence[Array], first_errors: Sequence[int]) -> Threshold:
    """The threshold with the best harmonic mean of the two ProcessBench accuracies.

    `scores[i]` is p(good) of solution i's steps. The threshold's `steps` are the length that USUAL_SHARE of the
    solutions do not exceed. Of several best values it is the middle of the longest run, away from its edges.
    """
    erroneous = np.array([error >= 0 for error in first_errors])
    if not erroneous.any() or erroneous.all():
        return UNFITTED
    steps, shortened = _shortened(scores)
    grid = np.unique(np.quantile(np.concatenate([np.linspace(0.01, 0.99, 99), *shortened]), np.linspace(0, 1, GRID)))
    exact = np.stack([_exact_at(p, error, grid) for p, error in zip(shortened, first_errors, strict=True)])
    at_errors, at_correct = exact[erroneous].mean(axis=0), exact[~erroneous].mean(axis=0)
    total = at_errors + at_correct
    f1 = np.divide(2 * at_errors * at_correct, total, out=np.zeros_like(total), where=total > 0)
    return Threshold(float(_middle_of_best(grid, f1)), steps)


def threshold_for_share(scores: Sequence[Array], share: float) -> Threshold:
    """The threshold below which this share of the solutions has a step."""
    steps, shortened = _shortened(scores)
    return Threshold(float(np.quantile([p.min() for p in shortened], min(max(share, 0.0), 1.0))), steps)


def _shortened(scores: Sequence[Array]) -> tuple[int, list[Array]]:
    """The length that USUAL_SHARE of the solutions do not exceed, and the scores as they count at that length."""
    steps = max(1, int(np.quantile([len(p) for p in scores], USUAL_SHARE)))
    return steps, [Threshold(0.5, steps).shorten(p, len(p)) for p in scores]


def _exact_at(p: Array, first_error: int, grid: Array) -> Array:
    """Whether each threshold of the grid predicts exactly this first error (-1: none)."""
    lowest = p.min(initial=1.0)
    if first_error < 0:
        return (grid <= lowest).astype(float)
    before = p[:first_error].min(initial=1.0)
    return ((grid > p[first_error]) & (grid <= before)).astype(float)


def _middle_of_best(grid: Array, values: Array) -> float:
    best = np.flatnonzero(values >= values.max() - 1e-12)
    runs = np.split(best, np.flatnonzero(np.diff(best) > 1) + 1)
    longest = max(runs, key=lambda run: grid[run[-1]] - grid[run[0]])
    return (grid[longest[0]] + grid[longest[-1]]) / 2


def _sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))
