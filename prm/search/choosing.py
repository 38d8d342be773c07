"""Candidates and the choice among them: best-of-N, and the last stage of every search."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from prm.answers import final_answer
from prm.answers.process import Grader, equivalence_classes
from prm.scores import Aggregate, aggregate, vote_weight
from prm.search.endpoint import Cost, Policy, Prefix, Sampled
from prm.search.verifiers import Verifier
from prm.traces import Step, Trace

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
        """The solution's score; UNSCORED without steps, or with a step without a score."""
        score = None if None in self.means else aggregate(self.means, by)
        return UNSCORED if score is None else score


class SearchResult(msgspec.Struct, frozen=True):
    """The result of a search: the chosen solution and its score, the cost, and the number of candidates.

    `score` is None if a step has no score; `rounds` counts rounds of a beam search or of revisions.
    """

    steps: list[Step]
    answer: str | None
    score: float | None
    step_scores: list[float | None]
    complete: bool
    candidates: int
    rounds: int
    cost: Cost


def choose(candidates: Sequence[Candidate], *, by: Aggregate, vote: bool, answer_of: AnswerOf) -> Candidate:
    """The candidate with the highest score, complete ones first; the earliest of equal ones.

    In a vote, each candidate votes for its answer with a weight (`vote_weight`), and the best candidate for the answer
    with the highest sum is chosen.
    """
    complete = [candidate for candidate in candidates if candidate.complete] or list(candidates)
    if vote and len(complete) > 1:
        sums: dict[object, float] = defaultdict(float)
        with Grader() as grader:
            classes = equivalence_classes([answer_of(candidate.steps) for candidate in complete], grader)
        # A candidate without an answer is a class of its own.
        keys: list[object] = [id(one) if kind is None else kind for one, kind in zip(complete, classes, strict=True)]
        for key, candidate in zip(keys, complete, strict=True):
            sums[key] += vote_weight(candidate.score(by))
        best = max(sums, key=lambda key: sums[key])
        complete = [candidate for key, candidate in zip(keys, complete, strict=True) if key == best]
    return max(complete, key=lambda candidate: candidate.score(by))


def result_of(
    chosen: Candidate, *, by: Aggregate, answer_of: AnswerOf, candidates: int, rounds: int, cost: Cost
) -> SearchResult:
    """The search result for the chosen candidate."""
    score = chosen.score(by)
    return SearchResult(
        steps=list(chosen.steps),
        answer=answer_of(chosen.steps),
        score=None if score == UNSCORED else score,
        step_scores=list(chosen.means),
        complete=chosen.complete,
        candidates=candidates,
        rounds=rounds,
        cost=cost,
    )


def best_of_n(
    policy: Policy,
    verifier: Verifier,
    problem: str,
    *,
    n: int = 8,
    by: Aggregate = "product",
    vote: bool = True,
    seed: int = 0,
    answer_of: AnswerOf = stated_answer,
) -> SearchResult:
    """The best of `n` solutions with the answer that wins the vote; without `vote`, the one with the highest score."""
    answers = policy.sample([Prefix(problem)], n=n, seed=seed)
    candidates, cost = score_samples(verifier, problem, (), answers.samples[0])
    chosen = choose(candidates, by=by, vote=vote, answer_of=answer_of)
    return result_of(chosen, by=by, answer_of=answer_of, candidates=n, rounds=1, cost=answers.cost + cost)


def score_samples(
    verifier: Verifier, problem: str, begun: Sequence[Step], samples: Sequence[Sampled]
) -> tuple[list[Candidate], Cost]:
    """Score complete solutions that begin with the steps `begun`."""
    traces = [Trace("", problem, [*begun, *sample.steps]) for sample in samples]
    scores = verifier.score(traces)
    candidates = [
        Candidate(tuple(trace.steps), tuple(score.mean), complete=not sample.cut)
        for trace, score, sample in zip(traces, scores, samples, strict=True)
    ]
    return candidates, Cost(steps_verified=sum(len(trace.steps) for trace in traces))
