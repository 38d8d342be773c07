"""Estimates the reliability of each annotator's ratings from the steps that several people rated. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotation.labels.consensus.dawid_skene import NEVER, Array, fit, prior_of_all
from annotation.labels.quality.anchoring import Ends, gap_between
from annotation.work.gold.gold_accuracy import score_interval
from prm import consensus
from prm.consensus import Evidence, Measured, Place, Posterior, Step, Vote, consensus_model
from prm.messages import Message
from prm.vocabulary import RATINGS

Words = Counter[tuple[str, int]]  # count of each (person, rating)
BAD = RATINGS.index(-1)
SMOOTHING = 10.0
# One step of each true rating, which the average person gets right with probability 0.8. Without it, a rating that no
# shared step has would be impossible, and everybody would seem to guess it.
IMAGINED = np.full((3, 3), 0.1) + 0.7 * np.eye(3)


@dataclass(frozen=True)
class Reliability:
    """Classes are in the order of RATINGS: `prior` [3] of the true ratings, `confusion` [3, 3] of each person, rows
    the truth, and `average` of a person without shared steps. `votes` counts each person's votes on shared steps, and
    `counts` [3, 3] the same votes by the probable truth."""

    prior: Array
    average: Array
    confusion: dict[str, Array]
    counts: dict[str, Array]
    votes: dict[str, int]

    def of(self, person: str) -> Array:
        return self.confusion.get(person, self.average)

    def informedness(self, person: str) -> float:
        """How much more often the person rates bad steps bad than other steps (Youden's J), as the consensus uses it.

        1 if always right, 0 if no better than chance, negative if misleading. A person with few shared steps is close
        to the average person.
        """
        rows = self.of(person)
        others = (self.prior[:BAD] + NEVER) / (self.prior[:BAD] + NEVER).sum()
        return float(rows[BAD, BAD] - others @ rows[:BAD, BAD])

    def reliability(self, person: str) -> consensus.Reliability:
        """The informedness as the consensus uses it, with the interval of the person's own votes without smoothing.

        The interval leaves out that the truth of a step is itself an estimate.
        """
        if person not in self.counts:
            return consensus.Reliability(self.informedness(person), -1.0, 1.0, 0)
        counts = self.counts[person]
        others = counts[:BAD]
        finds = _share(float(counts[BAD, BAD]), float(counts[BAD].sum()))
        invents = _share(float(others[:, BAD].sum()), float(others.sum()))
        gap = gap_between(finds, invents)
        return consensus.Reliability(
            self.informedness(person), gap.low, gap.high, self.votes[person], Measured(*finds), Measured(*invents)
        )

    @property
    def parameters(self) -> dict[str, Any]:
        people = {
            person: {"confusion": rows.tolist(), "counts": self.counts[person].tolist(), "votes": self.votes[person]}
            for person, rows in self.confusion.items()
        }
        return {"prior": self.prior.tolist(), "average": self.average.tolist(), "people": people}

    @classmethod
    def restore(cls, parameters: Mapping[str, Any]) -> "Reliability":
        people = parameters["people"]
        return cls(
            np.array(parameters["prior"]),
            np.array(parameters["average"]),
            {person: np.array(stored["confusion"]) for person, stored in people.items()},
            {person: np.array(stored["counts"]) for person, stored in people.items()},
            {person: stored["votes"] for person, stored in people.items()},
        )

    def posterior(self, votes: Sequence[Vote]) -> dict[Place, Posterior]:
        """The probability of each true rating of each step after these votes."""
        logs: dict[Place, Array] = {}
        for vote in votes:
            before = logs.setdefault((vote.position, vote.alternative), np.log(self.prior + NEVER))
            logs[vote.position, vote.alternative] = before + np.log(self.of(vote.person)[:, RATINGS.index(vote.rating)])
        chances = {place: np.exp(log - log.max()) for place, log in logs.items()}
        return {place: Posterior(*(chance / chance.sum()).tolist()) for place, chance in chances.items()}


@consensus_model("reliability", restore=Reliability.restore, title=Message("consensus_by_reliability"))
def estimate(evidence: Evidence, *, start: Mapping[str, Any] | None = None) -> Reliability | None:
    """Fit reliability to steps with two or more votes or a `settled` rating; None if there are none.

    The frequency of each rating comes from all steps.
    """
    known = evidence.settled
    shared, single = _split(evidence.votes, known)
    if not shared:
        return None
    steps = {step: number for number, step in enumerate(dict.fromkeys(vote.step for vote in shared))}
    people = {person: number for number, person in enumerate(sorted({vote.person for vote in shared}))}
    voters = np.array([people[vote.person] for vote in shared])
    estimates = fit(
        np.array([steps[vote.step] for vote in shared]),
        voters,
        np.array([RATINGS.index(vote.rating) for vote in shared]),
        classes=len(RATINGS),
        known={steps[step]: RATINGS.index(rating) for step, rating in known.items() if step in steps},
        smoothing=SMOOTHING,
        imagined=IMAGINED,
    )
    strangers = len(people)
    words = np.zeros((strangers + 1, len(RATINGS)))
    for (person, rating), number in single.items():
        words[people.get(person, strangers), RATINGS.index(rating)] += number
    confusion = np.concatenate([estimates.confusion, estimates.average[None]])
    votes_of = np.bincount(voters)
    return Reliability(
        prior=prior_of_all(estimates, words, confusion, IMAGINED),
        average=estimates.average,
        confusion={person: estimates.confusion[number] for person, number in people.items()},
        counts={person: estimates.counts[number] for person, number in people.items()},
        votes={person: int(votes_of[number]) for person, number in people.items()},
    )


def _split(votes: Sequence[Vote], known: Mapping[Step, int]) -> tuple[list[Vote], Words]:
    """The votes on shared or settled steps, and the numbers of votes on all others."""
    raters: dict[Step, set[str]] = {}
    for vote in votes:
        raters.setdefault(vote.step, set()).add(vote.person)
    shared = [vote for vote in votes if len(raters[vote.step]) > 1 or vote.step in known]
    alone = (vote for vote in votes if len(raters[vote.step]) == 1 and vote.step not in known)
    return shared, Counter((vote.person, vote.rating) for vote in alone)


def _share(count: float, of: float) -> Ends:
    """A share with its interval, which is wide for few steps."""
    share = count / of
    return share, *score_interval(share, of)
