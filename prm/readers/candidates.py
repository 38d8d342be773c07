"""One sampled solution a line, with its correctness and the step scores that published PRMs gave."""

from collections.abc import Iterator

import msgspec

from prm.scores import TraceScore
from prm.traces import Step, Trace

NAME = "scored candidates"
JUDGED = "best of n"
MARKS = frozenset({"problem_id", "candidate_index", "steps", "is_correct"})


class Record(msgspec.Struct):
    """`prm_step_scores` has the scores of each step by the name of the model that gave them."""

    problem_id: str
    candidate_index: int
    problem: str
    steps: list[str]
    is_correct: bool
    reference_answer: str | None = None
    final_answer: str | None = None
    prm_step_scores: dict[str, list[float]] = {}


def traces_of(record: Record) -> Iterator[Trace]:
    """The candidate, without step labels."""
    yield Trace(
        id=_name(record),
        problem=record.problem,
        problem_id=record.problem_id,
        steps=[Step(text) for text in record.steps],
        split="holdout",
        reference_answer=record.reference_answer,
        final_answer_correct=record.is_correct,
        meta={} if record.final_answer is None else {"final_answer": record.final_answer},
    )


def scores_of(record: Record) -> Iterator[tuple[str, TraceScore]]:
    """The candidate's published scores, by model."""
    for model, scores in record.prm_step_scores.items():
        yield model, TraceScore(_name(record), [[p] for p in scores], list(scores), [None] * len(scores), None)


def _name(record: Record) -> str:
    return f"{record.problem_id}/{record.candidate_index}"
