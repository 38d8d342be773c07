"""How likely each candidate is to be drawn: more for more use, within the caps, and summing to the budget."""

import math
from collections.abc import Callable

import msgspec
import numpy as np

from prm.acquisition.candidates import Array, Numbers
from prm.errors import PRMError
from prm.messages import Message

SHARPNESS = 4.0  # weight is (utility / best) ** this: near-greedy among the good, yet never certain
EXPLORATION = 0.1  # share of the budget spread evenly, so that no candidate has probability zero


class Caps(msgspec.Struct, frozen=True):
    """The most that one batch takes: `problem` solutions of a problem, and of a domain this share of the budget.

    None caps nothing. Domains that are fewer than the share allows for get an even share each.
    """

    problem: int | None = 1
    domain: float | None = None

    def __post_init__(self) -> None:
        if (self.problem is not None and self.problem < 1) or (self.domain is not None and not 0 < self.domain <= 1):
            raise PRMError(Message("cap_out_of_range", rule=self))


def inclusion_probabilities(utility: Array, problem: Numbers, domain: Numbers, budget: int, caps: Caps) -> Array:
    """Probabilities [candidates] above 0 and at most 1, that sum to the budget, or to what the caps leave of it.

    Those of a problem sum to at most its cap, those of a domain to at most its share of the budget. `problem` and
    `domain` are codes; a problem lies within one domain. Proportional to a weight until a cap is reached, then
    the rest is shared out among the others.
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
    """The same probability [candidates] for all, but that a domain too small for one draw is given one.

    They sum to the budget, or to all there are. Where there are more domains than draws, size alone decides.
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
    """The smallest cap per problem, doubled from 1 on, that leaves room for the budget, or for all there are."""
    sizes, cap = np.bincount(problem), 1
    while np.minimum(sizes, cap).sum() < min(budget, len(problem)):
        cap *= 2
    return cap


def _domain_room(room: Array, budget: int, caps: Caps) -> Array:
    """How many of each domain there is room for: whole numbers."""
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
    """Per group, the level at which min(1, min(level, ceiling) x weight) sums to its room; no less where it cannot."""

    def filled(level: Array) -> Array:
        return _sums(group, np.minimum(1.0, np.minimum(level[group], ceiling) * weights), len(room))

    return _bisect(filled, room, 1 / weights.min())


def _sums(group: Numbers, values: Array, groups: int) -> Array:
    return np.bincount(group, values, groups).astype(float)


def _bisect(rising: Callable[[Array], Array], target: Array, most: float) -> Array:
    """Where each entry of a rising function of a level between 0 and `most` reaches its target."""
    low, high = np.zeros_like(target), np.full_like(target, most)
    while (high - low > 1e-15 * high).any():
        middle = (low + high) / 2
        if ((middle == low) | (middle == high)).all():
            break
        short = rising(middle) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high
