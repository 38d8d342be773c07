"""Verify and revise: cut a solution before its first suspicious step and let the policy continue from there."""

from prm.encoding import render_step
from prm.scores import Aggregate
from prm.search.choosing import AnswerOf, SearchResult, choose, result_of, score_samples, stated_answer
from prm.search.endpoint import Policy, Prefix
from prm.search.verifiers import Verifier
from prm.threshold import Threshold

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
    threshold: Threshold | None = None,
    critique: bool = False,
    by: Aggregate = "product",
    seed: int = 0,
    answer_of: AnswerOf = stated_answer,
) -> SearchResult:
    """One solution, revised at most `rounds` times; a revision replaces it only if its score is higher.

    Each round cuts the solution before the first step that scores below `threshold` (by default the verifier's) and
    samples `tries` continuations; `critique` shows the policy the wrong step. Ends early if no step is suspicious.
    """
    answers = policy.sample([Prefix(problem)], seed=seed * 1009)
    [best], verified = score_samples(verifier, problem, (), answers.samples[0])
    cost, sampled, done = answers.cost + verified, 1, 0
    while done < rounds and (place := (threshold or verifier.threshold).first_below(best.means)) >= 0:
        done += 1
        prefix = best.steps[:place]
        critique_text = CRITIQUE.format(step=render_step(best.steps[place])) if critique else ""
        answers = policy.sample([Prefix(problem, prefix, critique_text)], n=tries, seed=seed * 1009 + done)
        candidates, verified = score_samples(verifier, problem, prefix, answers.samples[0])
        cost, sampled = cost + answers.cost + verified, sampled + tries
        best = choose([best, *candidates], by=by, vote=False, answer_of=answer_of)
    return result_of(best, by=by, answer_of=answer_of, candidates=sampled, rounds=done, cost=cost)
