"""ProcessBench (Zheng et al. 2024): the first wrong step of 3,400 solutions in four subsets."""

from collections.abc import Iterator

import msgspec

from prm.traces import Step, Trace

NAME = "ProcessBench"
JUDGED = "steps"
MARKS = frozenset({"steps", "label", "problem"})


class Record(msgspec.Struct):
    """`label` is the position of the first wrong step from 0, -1 for none."""

    id: str
    problem: str
    steps: list[str]
    label: int
    generator: str = ""
    final_answer_correct: bool | None = None


def traces_of(record: Record) -> Iterator[Trace]:
    """The solution; its domain is the subset, which its id begins with ("gsm8k-17")."""
    yield Trace(
        id=record.id,
        problem=record.problem,
        steps=[Step(text) for text in record.steps],
        split="holdout",
        domain=record.id.rpartition("-")[0],
        generator=record.generator,
        first_error=record.label,
        final_answer_correct=record.final_answer_correct,
    )
