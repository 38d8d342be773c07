"""PRMBench (Song et al. 2025): solutions changed so as to hold one kind of error each, every step labelled."""

from collections.abc import Iterator

import msgspec

from prm.labels import BAD, GOOD
from prm.traces import Step, Trace

NAME = "PRMBench"
JUDGED = "prmbench"
MARKS = frozenset({"modified_process", "error_steps", "classification"})
CORRECT, TWIN_OF_CORRECT = "correct", "redundency"  # the benchmark's own spelling


class Record(msgspec.Struct):
    """`error_steps` are positions of wrong steps of `modified_process`, counted from 1."""

    idx: str | int
    original_question: str
    modified_question: str
    original_process: list[str]
    modified_process: list[str]
    error_steps: list[int]
    classification: str


def traces_of(record: Record) -> Iterator[Trace]:
    """The changed solution, its domain the classification; with a redundant one comes the unchanged one beside it,
    under the domain "correct", as the benchmark's own evaluation has it."""
    kind, positions = record.classification, {step - 1 for step in record.error_steps}
    yield _trace(f"{kind}_{record.idx}", record, kind, record.modified_question, record.modified_process, positions)
    if kind == TWIN_OF_CORRECT:
        yield _trace(
            f"{CORRECT}_{record.idx}", record, CORRECT, record.original_question, record.original_process, set()
        )


def _trace(name: str, record: Record, kind: str, question: str, process: list[str], errors: set[int]) -> Trace:
    within = [k for k in sorted(errors) if 0 <= k < len(process)]
    return Trace(
        id=name,
        problem=question,
        problem_id=record.original_question,
        steps=[Step(text) for text in process],
        split="holdout",
        domain=kind,
        labels=[BAD if k in errors else GOOD for k in range(len(process))],
        first_error=within[0] if within else -1,
    )
