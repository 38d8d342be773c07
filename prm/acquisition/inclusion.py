"""Computes inclusion probabilities that rise with utility, respect the caps, and sum to the budget."""

import math
from collections.abc import Callable

import msgspec
import numpy as np

from prm.acquisition.candidates import Array, Numbers
from prm.errors import PRMError
from prm.messages import Message

SHARPNESS = 4.0  # exponent of utility / best in the weights: almost greedy, but never certain
EXPLORATION = 0.1  # share of the budget spread evenly, so that every candidate has a positive probability


class Caps(msgspec.Struct, frozen=True):
    """Limits on one batch: at most `problem` solutions to a problem, and a share `domain` of the budget per domain.

    None means no limit. If the shares of all domains do not reach the budget, each domain has an even share.
    """

    problem: int | None = 1
    domain: float | None = None

    def __post_init__(self) -> None:
        if (self.problem is not None and self.problem < 1) or (self.domain is not None and not 0 < self.domain <= 1):
            raise PRMError(Message("cap_out_of_range", rule=self))


def inclusion_probabilities(utility: Array, problem: Numbers, domain: Numbers, budget: int, caps: Caps) -> Array:
    """Probabilities [candidates] above 0 and at most 1 that sum to the budget, or to the maximum under the caps.

    Those of a problem sum to at most its cap, and those of a domain to at most its share of the budget. `problem` and
    `domain` are codes; a problem is in one domain. The probabilities are proportional to a weight; the excess above a
    cap is distributed among the others.
    """
    weights = _weights(utility)
    sizes = np.bincount(problem)
    room = np.minimum(sizes, sizes if caps.problem is None else caps.problem).astype(float)
    of_problem = np.full(len(room), np.inf)
    if (sizes > room).any():
        of_problem = _levels(weights, problem, room, np.full(len(weights), np.inf))
    domain_of = np.zeros(len(room), dtype=np.int64)
    domain_of[problem] = domain
    domain_room = _domain_room(_sums(domain_of, room, int(domain.max()) + 1), budget, caps)
    ceiling = of_problem[problem]
    if caps.domain is not None:
        ceiling = np.minimum(ceiling, _levels(weights, domain, domain_room, ceiling)[domain])
    target = np.array([min(float(budget), domain_room.sum())])
    level = _levels(weights, np.zeros(len(weights), dtype=np.int64), target, ceiling)[0]
    return np.minimum(1.0, np.minimum(level, ceiling) * weights)


def even_probabilities(domain: Numbers, budget: int) -> Array:
    """Equal probabilities [candidates], except that every domain has at least one expected draw.

    They sum to the budget, or to the number of candidates. With more domains than draws all are equal.
    """
    sizes = np.bincount(domain).astype(float)
    budget = min(budget, len(domain))
    least = np.minimum(sizes, 1.0) if budget >= np.count_nonzero(sizes) else np.zeros_like(sizes)
    groups = np.zeros(len(sizes), dtype=np.int64)

    def filled(level: Array) -> Array:
        return _sums(groups, np.minimum(sizes, np.maximum(least, level[0] * sizes)), 1)

    shares = np.maximum(least, _bisect(filled, np.array([float(budget)]), 1.0)[0] * sizes)
    return np.minimum(1.0, shares / np.maximum(sizes, 1.0))[domain]


def least_cap(problem: Numbers, budget: int) -> int:
    """The smallest power of two as a cap per problem that allows for the budget, or for all candidates."""
    sizes, cap = np.bincount(problem), 1
    while np.minimum(sizes, cap).sum() < min(budget, len(problem)):
        cap *= 2
    return cap


def _domain_room(room: Array, budget: int, caps: Caps) -> Array:
    """The maximum number of draws from each domain."""
    if caps.domain is None:
        return room
    share = math.floor(caps.domain * budget + 1e-9)
    return np.minimum(room, max(share, math.ceil(budget / np.count_nonzero(room))))


def _weights(utility: Array) -> Array:
    """Positive weights that sum to 1: sharpened utility mixed with an even share."""
    even = np.full(len(utility), 1 / len(utility))
    best = utility.max()
    if best <= 0:
        return even
    sharp = np.clip(utility / best, 0, None) ** SHARPNESS
    return np.asarray((1 - EXPLORATION) * sharp / sharp.sum() + EXPLORATION * even)


def _levels(weights: Array, group: Numbers, room: Array, ceiling: Array) -> Array:
    """Per group, the level at which min(1, min(level, ceiling) x weight) sums to its room, else the highest level."""

    def filled(level: Array) -> Array:
        return _sums(group, np.minimum(1.0, np.minimum(level[group], ceiling) * weights), len(room))

    return _bisect(filled, room, 1 / weights.min())


def _sums(group: Numbers, values: Array, groups: int) -> Array:
    return np.bincount(group, values, groups).astype(float)


def _bisect(rising: Callable[[Array], Array], target: Array, most: float) -> Array:
    """The level between 0 and `most` at which each entry of a rising function reaches its target."""
    low, high = np.zeros_like(target), np.full_like(target, most)
    while (high - low > 1e-15 * high).any():
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():
            break
        short = rising(middle) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
