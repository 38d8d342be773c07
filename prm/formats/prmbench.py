"""PRMBench (Song et al. 2025, huggingface.co/datasets/hitsmy/PRMBench_Preview): JSON Lines of falsified solutions.

The solution is `modified_process`, an answer to `modified_question`. `error_steps` are the 1-based numbers of its wrong
steps; all others are right. The original question and process are stored with the solution.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, rated_along, rated_label
from prm.formats.reading import Unreadable, convert_record, other_fields
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled
from prm.formats.registry import file_format
from prm.formats.writing import Loss, always
from prm.labels import GOOD
from prm.messages import Message
from prm.traces import Step, Trace
from prm.vocabulary import NeutralPolicy

CORRECT, TWIN_OF_CORRECT = "correct", "redundency"  # the benchmark's own spelling


class _Origin(msgspec.Struct):
    """The question and solution before modification, which other writers of the format leave out."""

    original_question: str | None = None
    original_process: list[str] | None = None


class _Line(msgspec.Struct):
    modified_question: str
    modified_process: list[str]
    error_steps: list[int]
    classification: str = ""
    idx: str = ""


@file_format(
    "prmbench",
    label="PRMBench",
    keys=("modified_question", "modified_process", "error_steps"),
    split="holdout",
    judged="prmbench",
)
def prmbench(value: Any) -> Record:
    line = convert_record(value, _Line)
    count = len(line.modified_process)
    for number in line.error_steps:
        if not 1 <= number <= count:
            raise Unreadable("error_steps", Message("error_step_out_of_range", number=number, count=count))
    ratings = [-1 if number in line.error_steps else 1 for number in range(1, count + 1)]
    return Record(
        problem=line.modified_question,
        positions=sampled(line.modified_process),
        domain=line.classification,
        external_id=line.idx,
        extra=other_fields(value, _Line),
        annotations=[
            rated_label(
                ratings,
                kind="consensus",
                name=annotator_in(value, "prmbench"),
                native={"error_steps": value["error_steps"]},
            )
        ],
    )


@prmbench.writes_label(known_error=False, two_classes=True, by_structure=always)
def _lines(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    """The process up to its first step without a rating, since the format calls a step right that it does not list."""
    steps, good, ends = rated_along(record, annotation, neutral)
    if ends:
        yield Loss(ends)
    if not steps:
        return
    named = {
        "classification": as_imported(record, annotation, "domain"),
        "idx": as_imported(record, annotation, "external_id"),
    }
    wrong = [number for number, right in enumerate(good, start=1) if not right]
    yield {
        **other_fields(as_imported(record, annotation, "extra"), _Line),
        "modified_question": as_imported(record, annotation, "problem"),
        "modified_process": steps,
        "error_steps": annotation.native.get("error_steps", wrong),
        **{key: text for key, text in named.items() if text},
    }


@prmbench.unpacks
def _unpack(trace: Trace, record: Record) -> Iterator[Trace]:
    """The modified solution, with its classification in the id.

    A redundant one also yields the unmodified solution, in the domain "correct", as in the benchmark's own evaluation.
    """
    origin = msgspec.convert(record.extra, _Origin)
    changed = msgspec.structs.replace(trace, problem_id=origin.original_question or trace.problem_id)
    yield msgspec.structs.replace(changed, id=f"{trace.domain}_{trace.id}" if trace.domain else trace.id)
    if trace.domain == TWIN_OF_CORRECT and origin.original_question and origin.original_process:
        yield msgspec.structs.replace(
            changed,
            id=f"{CORRECT}_{trace.id}",
            domain=CORRECT,
            problem=origin.original_question,
            steps=[Step(text) for text in origin.original_process],
            labels=[GOOD] * len(origin.original_process),
            first_error=-1,
        )
