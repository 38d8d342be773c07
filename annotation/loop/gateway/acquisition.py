"""Which solutions to label next."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.core.errors import DomainError
from annotation.loop.gateway.reading_costs import ReadingCost, library_cost
from annotation.models.policy import Caps
from prm.messages import Message

Numbers = NDArray[np.int64]
RANDOM = "random"


@dataclass(frozen=True)
class Ranked:
    """A solution that an acquisition function chose: gain as the function measures it, expected cost in seconds."""

    id: int
    inclusion_probability: float
    gain: float
    expected_seconds: float


@dataclass(frozen=True)
class Ranking:
    """The chosen, the most wanted first, from how many, and what there is to know about how they were chosen."""

    chosen: list[Ranked]
    candidates: int
    notes: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Scored:
    """Solutions to choose from, as columns of `prm.acquisition.Pool`; `problem` and `domain` are any whole numbers."""

    ids: Numbers
    problem: Numbers
    domain: Numbers
    steps: Numbers
    heads: NDArray[Any]
    chars: NDArray[Any]
    correct: NDArray[np.int8]
    embedding: NDArray[Any] | None = None


def rank(name: str, scored: Scored, *, budget: int, cost: ReadingCost, rng: np.random.Generator, caps: Caps) -> Ranking:
    """At most `budget` of the scored solutions by acquisition function `name`, the highest gain first.

    Without a cap per problem, each problem gives one solution, and more only if the budget needs them.
    """
    from prm import acquisition
    from prm.errors import PRMError

    problem, domain = (np.unique(codes, return_inverse=True)[1] for codes in (scored.problem, scored.domain))
    pool = acquisition.Pool(problem, domain, scored.steps, scored.heads, scored.chars, scored.correct, scored.embedding)
    of_problem = acquisition.least_cap(problem, budget) if caps.problem is None else caps.problem
    limits = acquisition.Caps(of_problem, caps.domain)
    try:
        drawn = acquisition.rank_pool(name, pool, budget=budget, cost=library_cost(cost), rng=rng, caps=limits)
    except PRMError as error:
        raise DomainError(Message("acquisition_of_policy_unknown", error=error), code="unknown_acquisition") from error
    columns = (scored.ids[drawn.index], drawn.inclusion_probability, drawn.gain, drawn.expected_cost)
    chosen = [Ranked(*row) for row in zip(*(column.tolist() for column in columns), strict=True)]
    notes: dict[str, Any] = {"of_a_problem": of_problem, "of_a_domain": caps.domain, "cost": asdict(cost)}
    if acquisition.FUNCTIONS.get(name).needs_outcome:
        notes["without_outcome"] = int((scored.correct == acquisition.UNKNOWN).sum())
    return Ranking(chosen, len(pool), notes)


def draw_evenly(
    domain: Numbers, within: Sequence[Numbers], count: int, rng: np.random.Generator
) -> tuple[Numbers, NDArray[np.float64]]:
    """`count` places in random order, spread over the domains and, within each, over further groups; and the
    probability that each had: the same for all, but more in a domain too small to be seen otherwise."""
    from prm import acquisition

    if not len(domain) or count < 1:
        return np.zeros(0, dtype=np.int64), np.zeros(0)
    codes = [np.unique(group, return_inverse=True)[1] for group in (domain, *within)]
    included = acquisition.even_probabilities(codes[0], count)
    drawn = rng.permutation(acquisition.draw_nested(included, codes, rng))
    return drawn, included[drawn]
