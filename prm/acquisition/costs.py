"""Estimates the cost of labelling a solution: a person's expected seconds, fitted to logged times."""

from itertools import combinations

import msgspec
import numpy as np
from numpy.typing import ArrayLike

from prm.acquisition.candidates import Array
from prm.errors import DataError
from prm.messages import Message

HUBER = 1.345  # residuals beyond this many spreads count linearly: 95 % efficient for Gaussian noise
BREAK = 4.0  # spreads above the fit beyond which a time counts as a break, not reading
PASSES = 25
SPREAD_OF_MAD = 1.4826


class CostModel(msgspec.Struct, frozen=True):
    """Seconds to label: fixed per solution, and per step read and per character.

    `stops_at_error` is True if a reader stops at the first error, and False if every step is rated.
    """

    fixed_seconds: float = 15.0
    seconds_per_step: float = 3.0
    seconds_per_char: float = 0.04
    stops_at_error: bool = True


def expected_cost(p: Array, step_chars: ArrayLike, cost: CostModel) -> Array:
    """Expected seconds of reading: [...] for `p` [..., steps, heads] and `step_chars` [..., steps].

    A first-error reader reads step k with probability mean_m prod_{j<k} p_mj. Characters of unscored later steps do not
    count.
    """
    if not p.size:
        return np.full(p.shape[:-2], cost.fixed_seconds)
    seconds = cost.seconds_per_step + cost.seconds_per_char * np.asarray(step_chars, dtype=float)[..., : p.shape[-2]]
    if not cost.stops_at_error:
        return np.asarray(cost.fixed_seconds + seconds.sum(axis=-1))
    return np.asarray(cost.fixed_seconds + (reached(p)[..., :-1, :].mean(axis=-1) * seconds).sum(axis=-1))


def reached(p: Array) -> Array:
    """prod_{j<k} p_mj for k = 0 .. steps: [..., steps + 1, heads] for `p` [..., steps, heads]."""
    return np.concatenate([np.ones_like(p[..., :1, :]), np.cumprod(p, axis=-2)], axis=-2)


def fit_cost(seconds: ArrayLike, steps: ArrayLike, chars: ArrayLike) -> CostModel:
    """Fit a model to logged times: `seconds` [n] for reading `steps` [n] steps with `chars` [n] characters in total.

    Huber's M-estimate (1964) by reweighted least squares with non-negative coefficients. Times far above the fit count
    as breaks; they are removed and the rest is fitted again. Raises DataError for fewer than four times, or one that is
    not above 0.
    """
    y = np.asarray(seconds, dtype=float)
    columns = np.stack([np.ones_like(y), np.asarray(steps, dtype=float), np.asarray(chars, dtype=float)], axis=1)
    if len(y) < 4 or not np.isfinite(y).all() or (y <= 0).any():
        raise DataError(Message("too_few_reading_times", n=len(y)))
    weights = _huber(columns, y)
    residuals = y - columns @ weights
    weights = _huber(*(part[residuals <= BREAK * _spread(residuals)] for part in (columns, y)))
    fixed, per_step, per_char = weights.tolist()
    return CostModel(fixed, per_step, per_char)


def _huber(columns: Array, y: Array) -> Array:
    weights = np.ones_like(y)
    for _ in range(PASSES):
        solution = _non_negative(columns, y, weights)
        residuals = np.abs(y - columns @ solution)
        weights = np.minimum(1.0, HUBER * _spread(residuals) / np.maximum(residuals, 1e-12))
    return solution


def _spread(residuals: Array) -> float:
    """Median absolute deviation, scaled to a standard deviation; above zero."""
    return max(SPREAD_OF_MAD * float(np.median(np.abs(residuals))), 1e-9)


def _non_negative(columns: Array, y: Array, weights: Array) -> Array:
    """Weighted least squares with non-negative coefficients: the best fit among all subsets of columns."""
    best, least = np.zeros(columns.shape[1]), np.inf
    root = np.sqrt(weights)
    n = columns.shape[1]
    for face in (list(chosen) for size in range(1, n + 1) for chosen in combinations(range(n), size)):
        part = np.zeros(columns.shape[1])
        part[face] = np.linalg.lstsq(columns[:, face] * root[:, None], y * root, rcond=None)[0]
        error = float(weights @ (y - columns @ part) ** 2)
        if (part >= 0).all() and error < least:
            best, least = part, error
    return best
