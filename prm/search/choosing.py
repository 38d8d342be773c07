"""Candidates, and which one is taken."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from prm.answers import final_answer
from prm.answers.classes import equivalence_classes
from prm.answers.process import Grader
from prm.scores import Aggregate, aggregate
from prm.search.endpoint import Cost
from prm.traces import Step

UNSCORED = float("-inf")
AnswerOf = Callable[[Sequence[Step]], str | None]


def stated_answer(steps: Sequence[Step]) -> str | None:
    """The solution's final answer, by `prm.answers`."""
    return final_answer(steps[-1].text) if steps else None


@dataclass(frozen=True)
class Candidate:
    """A solution with its step scores; `complete` is False if the policy did not finish it."""

    steps: tuple[Step, ...]
    means: tuple[float | None, ...]
    complete: bool = True

    def score(self, by: Aggregate) -> float:
        """The solution's score; last of all where it has no step, or one that was not scored."""
        score = None if None in self.means else aggregate(self.means, by)
        return UNSCORED if score is None else score


class Found(msgspec.Struct, frozen=True):
    """The result of a search: the chosen solution and its score, the cost, and the number of candidates.

    `score` is None where nothing could be scored, `rounds` the rounds of a beam search or of revisions.
    """

    steps: list[Step]
    answer: str | None
    score: float | None
    step_scores: list[float | None]
    complete: bool
    candidates: int
    rounds: int
    cost: Cost


def choose(candidates: Sequence[Candidate], *, by: Aggregate, weighted: bool, answer_of: AnswerOf) -> Candidate:
    """The candidate of the highest score, complete ones first; the earliest of several.

    Weighted, scores are first summed over the candidates of an equal answer (best-of-N weighted, Li et al. 2023,
    as in Snell et al. 2024, section 5.1), and the best candidate of the answer with most is taken.
    """
    complete = [candidate for candidate in candidates if candidate.complete] or list(candidates)
    if weighted:
        sums: dict[object, float] = defaultdict(float)
        keys = _votes(complete, answer_of)
        for key, candidate in zip(keys, complete, strict=True):
            sums[key] += max(0.0, candidate.score(by))
        best = max(sums, key=lambda key: sums[key])
        complete = [candidate for key, candidate in zip(keys, complete, strict=True) if key == best]
    return max(complete, key=lambda candidate: candidate.score(by))


def found(chosen: Candidate, *, by: Aggregate, answer_of: AnswerOf, candidates: int, rounds: int, cost: Cost) -> Found:
    """The record of a choice."""
    score = chosen.score(by)
    return Found(
        steps=list(chosen.steps),
        answer=answer_of(chosen.steps),
        score=None if score == UNSCORED else score,
        step_scores=list(chosen.means),
        complete=chosen.complete,
        candidates=candidates,
        rounds=rounds,
        cost=cost,
    )


def _votes(candidates: Sequence[Candidate], answer_of: AnswerOf) -> list[object]:
    """Equal for equal answers; a candidate without one stands for itself."""
    with Grader() as grader:
        classes = equivalence_classes([answer_of(candidate.steps) for candidate in candidates], grader)
    return [id(candidate) if kind is None else kind for candidate, kind in zip(candidates, classes, strict=True)]
