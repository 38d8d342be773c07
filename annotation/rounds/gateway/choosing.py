"""Which solutions to label next."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from annotation.errors import DomainError
from annotation.rounds.costs import ReadingCost

if TYPE_CHECKING:
    from prm.acquisition import CostModel


@dataclass(frozen=True)
class Ranked:
    """A solution that an acquisition function chose: gain in nats, expected cost in seconds."""

    id: int
    inclusion_probability: float
    gain: float
    expected_seconds: float


@dataclass(frozen=True)
class Scored:
    """A solution to choose from: `heads` is [scored steps, heads], `step_chars` has every step."""

    id: int
    problem_id: int
    domain: str
    heads: np.ndarray
    step_chars: list[int]
    final_answer_correct: bool | None


def rank(
    name: str, scored: Sequence[Scored], *, budget: int, cost: ReadingCost, rng: np.random.Generator
) -> list[Ranked]:
    """At most `budget` of the scored solutions by acquisition function `name`, the most wanted first.

    At first one solution a problem, for variety; more only where the budget is not used up otherwise.
    """
    from prm import acquisition
    from prm.errors import PRMError

    candidates = [
        acquisition.Candidate(
            id=str(one.id),
            problem_id=str(one.problem_id),
            domain=one.domain,
            heads=one.heads.tolist(),
            step_chars=one.step_chars,
            final_answer_correct=one.final_answer_correct,
        )
        for one in scored
    ]
    cost_model = library_cost(cost)
    wanted, cap = min(budget, len(candidates)), 1
    largest = max(Counter(one.problem_id for one in scored).values(), default=1)
    while True:
        try:
            chosen = acquisition.rank(
                name, candidates, budget=wanted, cost=cost_model, rng=rng, caps=acquisition.Caps(problem=cap)
            )
        except PRMError as error:
            raise DomainError("unknown_acquisition", f"{error}. Change the project's policy.") from error
        if len(chosen) >= wanted or cap >= largest:
            break
        cap *= 2
    return [Ranked(int(one.id), one.inclusion_probability, one.gain, one.expected_cost) for one in chosen]


def library_cost(cost: ReadingCost) -> "CostModel":
    """The cost model in the library's words."""
    from prm.acquisition import CostModel

    return CostModel(fixed_seconds=cost.fixed, seconds_per_step=0.0, seconds_per_char=cost.per_char)
