"""What to label next: candidates in, a stochastic selection with inclusion probabilities out. numpy only.

Notation: p[k, m] is head m's probability that step k is good given a good prefix; a head stays one
head across the steps of a solution. Gains are in nats.

The draw is systematic sampling with unequal probabilities: each candidate's inclusion probability is
fixed first (more for more gain), candidates of one problem are laid side by side in random order, and
one random offset cuts the line at every whole number. So every inclusion probability is exact, the size
is fixed, and no problem gets more than its cap.
"""

from collections.abc import Callable, Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.errors import PRMError

Array = NDArray[np.float64]
SHARPNESS = 4.0  # weight is (utility / best) ** this: near-greedy among the good, yet never certain
EXPLORATION = 0.1  # share of the budget spread evenly, so that no candidate has probability zero


class Candidate(msgspec.Struct):
    """A solution that may be labelled. `heads[k]` are the heads' p for step k (scored steps only);
    `step_chars` are the lengths of those steps' texts."""

    id: str
    problem_id: str
    domain: str
    heads: list[list[float]]
    step_chars: list[int]
    final_answer_correct: bool | None = None


class CostModel(msgspec.Struct, frozen=True):
    """Seconds to label: fixed per solution, and per step read plus per character of it."""

    fixed_seconds: float = 15.0
    seconds_per_step: float = 3.0
    seconds_per_char: float = 0.04


class Selected(msgspec.Struct):
    """One drawn candidate: the probability it had of being drawn, its gain (nats) and expected cost (seconds)."""

    id: str
    inclusion_probability: float
    gain: float
    expected_cost: float


def rank(
    name: str,
    candidates: Sequence[Candidate],
    *,
    budget: int,
    cost: CostModel,
    rng: np.random.Generator,
    cap_per_problem: int = 1,
) -> list[Selected]:
    """Draw up to `budget` candidates by the named function, most useful first.

    Fewer come back where the cap leaves fewer. Raises PRMError for an unknown name.
    """
    if name not in FUNCTIONS:
        raise PRMError(f"unknown acquisition function {name!r}: one of {', '.join(FUNCTIONS)}")
    if not candidates or budget < 1:
        return []
    matrices = [_matrix(candidate) for candidate in candidates]
    gains = np.array([FUNCTIONS[name](p) for p in matrices])
    costs = np.array([expected_cost(p, c.step_chars, cost) for p, c in zip(matrices, candidates, strict=True)])
    utility = gains / costs if name in PER_COST else gains
    included = inclusion_probabilities(utility, [c.problem_id for c in candidates], budget, cap_per_problem)
    drawn = draw(included, [c.problem_id for c in candidates], rng)
    return [
        Selected(candidates[i].id, float(included[i]), float(gains[i]), float(costs[i]))
        for i in sorted(drawn, key=lambda i: -utility[i])
    ]


def first_error_bald(p: Array) -> float:
    """Information a reader's first-error verdict gives about the heads.

    q_m(k) = (1 - p_mk) prod_{j<k} p_mj, q_m(none) = prod p_mj; gain = H(mean_m q_m) - mean_m H(q_m).
    """
    if not p.size:
        return 0.0
    reach = _reach(p)
    q = np.vstack([reach[:-1] * (1 - p), reach[-1:]])
    return max(0.0, float(_entropy(q.mean(axis=1)) - _entropy(q).mean()))


def step_bald(p: Array) -> float:
    """Sum over steps of each step's own mutual information with the heads, as if every step were rated."""
    binary = np.stack([p, 1 - p])
    return max(0.0, float((_entropy(binary.mean(axis=2)) - _entropy(binary).mean(axis=1)).sum()))


def entropy(p: Array) -> float:
    """Mean over steps of the entropy of the heads' mean."""
    if not p.size:
        return 0.0
    mean = p.mean(axis=1)
    return float(_entropy(np.stack([mean, 1 - mean])).mean())


def margin(p: Array) -> float:
    """How near the most doubtful step's mean lies to one half: 1 at one half, 0 at certainty."""
    return float((1 - np.abs(2 * p.mean(axis=1) - 1)).max()) if p.size else 0.0


def indifferent(p: Array) -> float:
    """The same for every candidate: a random draw."""
    return 1.0


def expected_cost(p: Array, step_chars: Sequence[int], cost: CostModel) -> float:
    """Seconds expected until the reader has found the first error or read to the end."""
    if not p.size:
        return cost.fixed_seconds
    read = _reach(p)[:-1].mean(axis=1)
    seconds = cost.seconds_per_step + cost.seconds_per_char * np.array(step_chars[: len(p)], dtype=float)
    return float(cost.fixed_seconds + (read * seconds).sum())


def inclusion_probabilities(utility: Array, problems: Sequence[str], budget: int, cap_per_problem: int) -> Array:
    """Probabilities [candidates], each at most 1, that sum to the budget and within a problem to at most the cap."""
    _, group = np.unique(problems, return_inverse=True)
    room = np.minimum(np.bincount(group), cap_per_problem).astype(float)
    target = min(float(budget), room.sum())
    weights = _weights(utility)

    ceiling = _level_of_cap(weights, group, room)

    def filled(level: float) -> Array:
        return np.minimum(1.0, np.minimum(level, ceiling)[group] * weights)

    return filled(float(_bisect(lambda level: filled(level[0]).sum(keepdims=True), np.array([target]), weights)[0]))


def draw(included: Array, problems: Sequence[str], rng: np.random.Generator) -> list[int]:
    """Indices drawn with exactly these inclusion probabilities; within a problem at most their sum, rounded up."""
    _, group = np.unique(problems, return_inverse=True)
    place_of_group = rng.permutation(group.max() + 1)
    order = np.lexsort([rng.random(len(included)), place_of_group[group]])
    # Rounding guards against 1e-16 spilling a capped problem over a whole number.
    ends = np.round(np.cumsum(included[order]), 9) + rng.random()
    hits = np.floor(ends) > np.floor(np.concatenate([[ends[0] - np.round(included[order][0], 9)], ends[:-1]]))
    return [int(i) for i in order[hits]]


def _matrix(candidate: Candidate) -> Array:
    """Probabilities [steps, heads]; [0, 0] where no step was scored."""
    return np.array(candidate.heads, dtype=float) if candidate.heads else np.zeros((0, 0))


def _reach(p: Array) -> Array:
    """prod_{j<k} p_mj for k = 0 .. steps: [steps + 1, heads]."""
    return np.vstack([np.ones((1, p.shape[1])), np.cumprod(p, axis=0)])


def _entropy(q: Array) -> Array:
    """Entropy in nats along the first axis."""
    return -(q * np.log(np.where(q > 0, q, 1.0))).sum(axis=0)


def _weights(utility: Array) -> Array:
    """Positive weights that sum to 1: sharpened utility mixed with an even share."""
    even = np.full(len(utility), 1 / len(utility))
    best = utility.max()
    if best <= 0:
        return even
    sharp = np.clip(utility / best, 0, None) ** SHARPNESS
    return (1 - EXPLORATION) * sharp / sharp.sum() + EXPLORATION * even


def _level_of_cap(weights: Array, group: NDArray[np.int64], room: Array) -> Array:
    """Per problem, the level at which min(1, level x weight) sums to its room."""
    size = len(room)
    return _bisect(
        lambda level: np.bincount(group, np.minimum(1.0, level[group] * weights), size).astype(float), room, weights
    )


def _bisect(rising: Callable[[Array], Array], target: Array, weights: Array) -> Array:
    """Where each entry of a rising function of a level reaches its target."""
    low, high = np.zeros_like(target), np.full_like(target, 1 / weights.min())
    for _ in range(80):
        middle = (low + high) / 2
        short = rising(middle) < target
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return high


FUNCTIONS: dict[str, Callable[[Array], float]] = {
    "random": indifferent,
    "entropy": entropy,
    "margin": margin,
    "step_bald": step_bald,
    "first_error_bald": first_error_bald,
}
PER_COST = frozenset({"step_bald", "first_error_bald"})
