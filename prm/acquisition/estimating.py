"""Estimates for a population from a sample drawn with unequal probabilities.

Labels that were selected for their gain are not representative of the pool; weighted by the inverse of their inclusion
probabilities, they are. `inclusion` [n] are these probabilities for the n draws.
"""

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from prm.errors import DataError
from prm.intervals import Z95, score_interval
from prm.messages import Message

Array = NDArray[np.float64]


class Estimate(msgspec.Struct, frozen=True):
    """A mean over the pool with its 95 % interval (None below two draws), beside the plain mean of the sample.

    `effective` is the number of equally weighted draws with the same information (Kish 1965): (sum w)^2 / sum w^2.
    """

    value: float
    low: float | None
    high: float | None
    naive: float
    n: int
    effective: float


def total_variance(values: ArrayLike, inclusion: ArrayLike) -> float:
    """Variance of the total, the sum of y / pi, for a design of fixed size and high entropy (Hajek 1964, eq. 8.10).

    n / (n - 1) sum (1 - pi) (y / pi - B)^2 with B the mean of y / pi weighted by 1 - pi; for simple random sampling
    it is the textbook's (1 - n/N) N^2 s^2 / n. It ignores the spatial balance of a sample, so it is conservative.
    Raises DataError below two draws.
    """
    y, pi = _checked(values, inclusion)
    n = len(y)
    if n < 2:
        raise DataError(Message("too_few_draws", n=n))
    rest = 1 - pi
    if not rest.any():
        return 0.0  # everything was drawn
    expanded = y / pi
    centre = (rest @ expanded) / rest.sum()
    return float(n / (n - 1) * (rest @ (expanded - centre) ** 2))


def hajek(values: ArrayLike, inclusion: ArrayLike, *, share: bool = False) -> Estimate:
    """The pool's mean: sum(y / pi) / sum(1 / pi) (Hajek 1971), its variance by linearisation.

    The interval of values that are never negative is clipped at 0. With `share`, the values are in [0, 1], and the
    interval holds for few draws too. Raises DataError for an empty sample.
    """
    y, pi = _checked(values, inclusion)
    weight = 1 / pi
    size = float(weight.sum())
    value, effective = float((weight @ y) / size), float(size**2 / (weight @ weight))
    low = high = None
    if len(y) > 1:
        # Residuals rather than values: the size of the pool is estimated along with the total (Sarndal 1992, 5.7).
        variance = total_variance((y - value) / size, pi)
        if share:
            low, high = _share_interval(value, variance, effective, 1 - len(y) / size)
        else:
            half = Z95 * variance**0.5
            low, high = value - half, value + half
            if y.min() >= 0:
                low = max(low, 0.0)
    return Estimate(value, low, high, float(y.mean()), len(y), effective)


def _share_interval(value: float, variance: float, effective: float, unread: float) -> tuple[float, float]:
    """The score interval for as many independent draws as have this variance (Korn & Graubard 1998).

    That number is at most the effective one, because two equal values have no variance. `unread` is the share of
    the pool that was not drawn. The drawn part is certain.
    """
    if unread <= 0:
        return value, value
    draws = effective / unread
    return score_interval(value, min(draws, value * (1 - value) / variance) if variance > 0 else draws)


def _checked(values: ArrayLike, inclusion: ArrayLike) -> tuple[Array, Array]:
    y, pi = np.asarray(values, dtype=float), np.asarray(inclusion, dtype=float)
    if y.shape != pi.shape or y.ndim != 1:
        raise DataError(Message("probability_count_differs", values=y.shape, probabilities=pi.shape))
    if not len(y):
        raise DataError(Message("nothing_drawn"))
    if not ((pi > 0) & (pi <= 1)).all():
        raise DataError(Message("probability_out_of_range"))
    return y, pi
