"""How far each annotator's word on a step can be trusted, learned from the steps that several rated. Pure."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from annotation.quality.dawid_skene import NEVER, Array, fit

RATINGS = (1, 0, -1)
BAD = RATINGS.index(-1)
SMOOTHING = 10.0


@dataclass(frozen=True)
class Vote:
    """One person's rating (1, 0 or -1) of one step."""

    step: Hashable
    person: str
    rating: int


@dataclass(frozen=True)
class Reliability:
    """Classes stand in the order of RATINGS: `prior` [3] of the true ratings, `confusion` [3, 3] of each person,
    rows the truth, and `average` of one of whom nothing is known. `votes` counts each one's words on shared steps."""

    prior: Array
    average: Array
    confusion: dict[str, Array]
    votes: dict[str, int]

    def of(self, person: str) -> Array:
        return self.confusion.get(person, self.average)

    def informedness(self, person: str) -> float:
        """How much more often bad steps are called bad than others are (Youden's J).

        1 for always right, 0 for a word that tells nothing (always the same, or by chance), negative for one
        that misleads.
        """
        rows = self.of(person)
        others = (self.prior[:BAD] + NEVER) / (self.prior[:BAD] + NEVER).sum()
        return float(rows[BAD, BAD] - others @ rows[:BAD, BAD])

    def posterior(self, said: Iterable[tuple[str, int]]) -> Array:
        """Probability [3] of each true rating after these (person, rating) words on one step."""
        logs = np.log(self.prior + NEVER)
        for person, rating in said:
            logs = logs + np.log(self.of(person)[:, RATINGS.index(rating)])
        chances = np.exp(logs - logs.max())
        probability: Array = chances / chances.sum()
        return probability


def estimate(
    votes: Sequence[Vote], *, settled: Mapping[Hashable, int] | None = None, smoothing: float = SMOOTHING
) -> Reliability | None:
    """From the steps that two or more rated, and those whose rating is `settled`; None where there are none."""
    known = settled or {}
    shared = _shared(votes, known)
    if not shared:
        return None
    steps = {step: number for number, step in enumerate(dict.fromkeys(vote.step for vote in shared))}
    people = {person: number for number, person in enumerate(sorted({vote.person for vote in shared}))}
    who = np.array([people[vote.person] for vote in shared])
    found = fit(
        np.array([steps[vote.step] for vote in shared]),
        who,
        np.array([RATINGS.index(vote.rating) for vote in shared]),
        classes=len(RATINGS),
        known={steps[step]: RATINGS.index(rating) for step, rating in known.items() if step in steps},
        smoothing=smoothing,
    )
    counts = np.bincount(who)
    return Reliability(
        prior=found.prior,
        average=found.average,
        confusion={person: found.confusion[number] for person, number in people.items()},
        votes={person: int(counts[number]) for person, number in people.items()},
    )


def _shared(votes: Sequence[Vote], known: Mapping[Hashable, int]) -> list[Vote]:
    raters: dict[Hashable, set[str]] = {}
    for vote in votes:
        raters.setdefault(vote.step, set()).add(vote.person)
    return [vote for vote in votes if len(raters[vote.step]) > 1 or vote.step in known]
