"""Verify and revise: cut a solution before its first suspicious step and let the policy continue from there."""

from prm.encoding import render_step
from prm.scores import Aggregate
from prm.search.choosing import AnswerOf, Candidate, SearchResult, choose, result_of, score_samples, stated_answer
from prm.search.endpoint import Policy, Prefix
from prm.search.verifiers import Verifier

CRITIQUE = (
    "An earlier try went wrong here: “{step}”. What stood before it is kept. Find the mistake and go on another way."
)


def revise(
    policy: Policy,
    verifier: Verifier,
    problem: str,
    *,
    rounds: int = 3,
    tries: int = 4,
    threshold: float | None = None,
    critique: bool = False,
    by: Aggregate = "product",
    seed: int = 0,
    answer_of: AnswerOf = stated_answer,
) -> SearchResult:
    """One solution, revised at most `rounds` times; a revision replaces it only if its score is higher.

    Each round cuts the solution before the first step that scores below `threshold` (by default the verifier's) and
    samples `tries` continuations; `critique` shows the policy the wrong step. Ends early if no step is suspicious.
    """
    bar = verifier.threshold if threshold is None else threshold
    answers = policy.sample([Prefix(problem)], seed=seed * 1009)
    [best], verified = score_samples(verifier, problem, (), answers.samples[0])
    cost, sampled, done = answers.cost + verified, 1, 0
    while done < rounds and (place := first_suspicious(best, bar)) is not None:
        done += 1
        prefix = best.steps[:place]
        critique_text = CRITIQUE.format(step=render_step(best.steps[place])) if critique else ""
        answers = policy.sample([Prefix(problem, prefix, critique_text)], n=tries, seed=seed * 1009 + done)
        candidates, verified = score_samples(verifier, problem, prefix, answers.samples[0])
        cost, sampled = cost + answers.cost + verified, sampled + tries
        best = choose([best, *candidates], by=by, weighted=False, answer_of=answer_of)
    return result_of(best, by=by, answer_of=answer_of, candidates=sampled, rounds=done, cost=cost)


def first_suspicious(candidate: Candidate, threshold: float) -> int | None:
    """The position of the first step below the threshold; None if there is none."""
    for place, mean in enumerate(candidate.means):
        if mean is not None and mean < threshold:
            return place
    return None
