"""Math-Shepherd (Wang et al. 2024, huggingface.co/datasets/peiyi9979/Math-Shepherd): JSON Lines.

`input` is the problem and then the steps, each followed by the tag `ки`; `label` is the same text with `+` or `-`
for each tag. The labels are Monte Carlo estimates: `+` means that the sampling model could still reach the right
answer from there, not that the step is right.
"""

import re
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, rated_along, rated_label
from prm.formats.reading import Unreadable, other_fields
from prm.formats.record import Completion, Record, RecordAnnotation, as_imported, stored_line
from prm.formats.registry import file_format
from prm.messages import Message

TAG = "ки"
_FIRST_STEP = re.compile(r"\s*Step 1\b")
_MARKS = {"+": 1, "-": -1}


class _Line(msgspec.Struct):
    input: str
    label: str
    task: str = ""


@file_format("math_shepherd", label="Math-Shepherd", keys=("input", "label"))
def math_shepherd(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    *pieces, rest = line.input.split(TAG)
    first = _FIRST_STEP.search(pieces[0]) if pieces else None
    if first is None:
        raise Unreadable("input", Message("steps_untagged", tag=TAG))
    if rest.strip():
        raise Unreadable("input", Message("text_after_last_tag", tag=TAG))
    marks = _marks(pieces, line.label)
    steps = [pieces[0][first.start() :], *pieces[1:]]
    record = Record(
        problem=pieces[0][: first.start()],
        positions=[[Completion(step.strip())] for step in steps],
        domain=line.task,
        extra=other_fields(value, _Line),
        annotations=[
            rated_label([_MARKS[mark] for mark in marks], kind="monte_carlo", name=annotator_in(value, "math_shepherd"))
        ],
    )
    if _native(record, record.annotations[0]) != value:
        record.annotations[0].native = {"format": "math_shepherd", "line": value}
    return record


def _marks(pieces: list[str], label: str) -> list[str]:
    """The marks in `label` at the places of the tags in `input`."""
    marks, at = [], 0
    for number, piece in enumerate(pieces):
        at += len(piece)
        mark = label[at : at + 1]
        if not label.startswith(piece, at - len(piece)) or mark not in _MARKS:
            raise Unreadable("label", Message("label_differs_from_input", number=number + 1))
        marks.append(mark)
        at += 1
    return marks


@math_shepherd.writes_label
def _native(record: Record, annotation: RecordAnnotation) -> dict[str, Any] | None:
    if line := stored_line(annotation, "math_shepherd"):
        return line
    steps, ratings = rated_along(record, annotation)
    problem, task = as_imported(record, annotation, "problem"), as_imported(record, annotation, "domain")
    if None in ratings or any(TAG in text for text in (problem, *steps)):
        return None
    if not steps or not _FIRST_STEP.match(steps[0]) or _FIRST_STEP.search(problem):  # only "Step 1" ends the problem
        return None
    marks = ["+" if rating != -1 else "-" for rating in ratings]
    return {
        "input": f"{problem} " + "\n".join(f"{step} {TAG}" for step in steps),
        "label": f"{problem} " + "\n".join(f"{step} {mark}" for step, mark in zip(steps, marks, strict=True)),
        **({"task": task} if task else {}),
        **other_fields(as_imported(record, annotation, "extra"), _Line),
    }
