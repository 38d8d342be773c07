"""MR-Ben (Zeng et al. 2024, github.com/dvlab-research/Mr-Ben): solutions whose first error a person labelled.

JSON Lines, an array, or one object of arrays. `Model_Solution_First_Error_Step` is a 1-based number as a string,
"N/A" for none. In the coding subject the solution is a text, its lines are the steps, and the label is the text of the
first wrong line; its first occurrence counts. A blank label means only that something is missing.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, error_along, index_in, index_label
from prm.formats.reading import Unreadable, convert_record
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled, stored_line
from prm.formats.registry import file_format
from prm.formats.writing import Loss, always
from prm.messages import Message
from prm.vocabulary import NO_ERROR, NeutralPolicy

SOURCE = "mr_ben"
NOT_APPLICABLE = "N/A"
FIELD = "Model_Solution_First_Error_Step"


class _Line(msgspec.Struct):
    Question: str
    Model_Solution_Steps: list[str] | str
    Model_Solution_First_Error_Step: str
    Question_UUID: str = ""
    Subject: str = ""
    Options: str | None = None
    Ground_Truth_Answer: str | None = None
    Ground_Truth_Analysis: str | None = None
    Sampled_Model: str = ""
    Model_Solution_Correctness: str | None = None


def _members(document: Any) -> Iterator[Any]:
    if FIELD in document:
        yield document
        return
    for value in document.values():
        yield from value if isinstance(value, list) else [value]


@file_format(
    "mr_ben",
    label="MR-Ben",
    keys=("Question", "Model_Solution_Steps", "Model_Solution_First_Error_Step"),
    members=_members,
)
def mr_ben(value: Any) -> Record:
    line = convert_record(value, _Line)
    solution = line.Model_Solution_Steps
    steps = solution if isinstance(solution, list) else _code_steps(solution)
    record = Record(
        problem="\n\n".join(part for part in (line.Question, line.Options) if part and part.strip()),
        positions=sampled(steps),
        domain=line.Subject,
        reference_answer=line.Ground_Truth_Answer or None,
        reference_solution=line.Ground_Truth_Analysis or None,
        external_id="/".join(part for part in (line.Question_UUID, line.Sampled_Model) if part),
        source_group=line.Question_UUID,
        generator=line.Sampled_Model,
        final_answer_correct={"correct": True, "incorrect": False}.get(line.Model_Solution_Correctness or ""),
        annotations=[_label(line, steps, annotator_in(value, SOURCE))],
    )
    record.annotations[0].native = {"format": SOURCE, "line": value}
    return record


def _label(line: _Line, steps: list[str], name: str) -> RecordAnnotation:
    marked = line.Model_Solution_First_Error_Step
    if marked == NOT_APPLICABLE:
        error = NO_ERROR
    elif isinstance(line.Model_Solution_Steps, list):
        number = index_in(marked)
        if not number:
            raise Unreadable(FIELD, Message("step_number_invalid", given=marked[:40], none=NOT_APPLICABLE))
        error = number - 1
    elif not marked.strip():
        return RecordAnnotation(source_kind="human", source_name=name, finish_reason="found_error", path=[])
    else:
        error = next((k for k, text in enumerate(steps) if marked.rstrip() in text.split("\n")), len(steps))
    return index_label(error, len(steps), field=FIELD, kind="human", name=name)


def _code_steps(code: str) -> list[str]:
    """Lines of code; blank lines belong to the line before them, and leading ones are dropped."""
    steps: list[str] = []
    for line in code.split("\n"):
        if line.strip():
            steps.append(line.rstrip())
        elif steps:
            steps[-1] += "\n"
    return steps


@mr_ben.writes_label(known_error=False, by_structure=always)
def _lines(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    if line := stored_line(annotation, SOURCE):
        yield line
        return
    if annotation.first_error is None:
        yield Loss("unknown_error")
        return
    steps, error = error_along(record, annotation)
    correct = as_imported(record, annotation, "final_answer_correct")
    yield {
        "Question": as_imported(record, annotation, "problem"),
        "Subject": as_imported(record, annotation, "domain"),
        "Ground_Truth_Answer": as_imported(record, annotation, "reference_answer") or "",
        "Sampled_Model": as_imported(record, annotation, "generator"),
        "Model_Solution_Steps": steps,
        **({} if correct is None else {"Model_Solution_Correctness": "correct" if correct else "incorrect"}),
        FIELD: NOT_APPLICABLE if error == NO_ERROR else str(error + 1),
    }
