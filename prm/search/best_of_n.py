"""Best-of-N: sample whole solutions and choose the one with the highest score."""

from collections.abc import Sequence

from prm.scores import Aggregate
from prm.search.choosing import AnswerOf, Candidate, Found, choose, found, stated_answer
from prm.search.endpoint import Cost, Policy, Prefix, Sampled
from prm.search.verifiers import Verifier
from prm.traces import Step, Trace


def best_of_n(
    policy: Policy,
    verifier: Verifier,
    problem: str,
    *,
    n: int = 8,
    by: Aggregate = "product",
    weighted: bool = False,
    seed: int = 0,
    answer_of: AnswerOf = stated_answer,
) -> Found:
    """The best of `n` solutions; weighted, of the answer whose solutions have the highest sum of scores."""
    answers = policy.sample([Prefix(problem)], n=n, seed=seed)
    candidates, cost = judged(verifier, problem, (), answers.samples[0])
    chosen = choose(candidates, by=by, weighted=weighted, answer_of=answer_of)
    return found(chosen, by=by, answer_of=answer_of, candidates=n, rounds=1, cost=answers.cost + cost)


def judged(
    verifier: Verifier, problem: str, begun: Sequence[Step], samples: Sequence[Sampled]
) -> tuple[list[Candidate], Cost]:
    """Whole solutions, their first steps `begun`, with their scores."""
    traces = [Trace("", problem, [*begun, *sample.steps]) for sample in samples]
    scores = verifier.score(traces)
    candidates = [
        Candidate(tuple(trace.steps), tuple(score.mean), complete=not sample.cut)
        for trace, score, sample in zip(traces, scores, samples, strict=True)
    ]
    return candidates, Cost(steps_verified=sum(len(trace.steps) for trace in traces))
