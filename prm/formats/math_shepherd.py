"""Math-Shepherd (Wang et al. 2024, huggingface.co/datasets/peiyi9979/Math-Shepherd): JSON Lines.

`input` is the problem and then the steps, each followed by the tag `ки`; `label` is the same text with `+` or `-`
for each tag. The labels are Monte Carlo estimates: `+` means that the sampling model could still reach the right
answer from there, not that the step is right.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from prm.formats.labels import annotator_in, rated_along, rated_label
from prm.formats.reading import Unreadable, convert_record, other_fields
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled, stored_line
from prm.formats.registry import file_format
from prm.formats.writing import Loss
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

TAG = "ки"
_FIRST_STEP = re.compile(r"\s*Step 1\b")
MARKS = {"+": 1, "-": -1}


class _Line(msgspec.Struct):
    input: str
    label: str
    task: str = ""


@file_format("math_shepherd", label="Math-Shepherd", keys=("input", "label"))
def math_shepherd(value: Any) -> Record:
    line = convert_record(value, _Line)
    problem, steps = split_tagged(line.input)
    marks = _marks([problem + steps[0], *steps[1:]], line.label)
    record = Record(
        problem=problem,
        positions=sampled(step.strip() for step in steps),
        domain=line.task,
        extra=other_fields(value, _Line),
        annotations=[
            rated_label([MARKS[mark] for mark in marks], kind="monte_carlo", name=annotator_in(value, "math_shepherd"))
        ],
    )
    if list(_lines(record, record.annotations[0], "positive")) != [value]:
        record.annotations[0].native = {"format": "math_shepherd", "line": value}
    return record


def split_tagged(text: str) -> tuple[str, list[str]]:
    """The problem and the steps of an `input`, with their white space. Raises Unreadable."""
    *pieces, rest = text.split(TAG)
    first = _FIRST_STEP.search(pieces[0]) if pieces else None
    if first is None:
        raise Unreadable("input", Message("steps_untagged", tag=TAG))
    if rest.strip():
        raise Unreadable("input", Message("text_after_last_tag", tag=TAG))
    return pieces[0][: first.start()], [pieces[0][first.start() :], *pieces[1:]]


def _marks(pieces: list[str], label: str) -> list[str]:
    """The marks in `label` at the places of the tags in `input`."""
    marks, at = [], 0
    for number, piece in enumerate(pieces):
        at += len(piece)
        mark = label[at : at + 1]
        if not label.startswith(piece, at - len(piece)) or mark not in MARKS:
            raise Unreadable("label", Message("label_differs_from_input", number=number + 1))
        marks.append(mark)
        at += 1
    return marks


class Tagged(NamedTuple):
    """A problem with steps and their marks."""

    problem: str
    steps: list[str]
    marks: list[str]

    def text(self, marks: Sequence[str] = ()) -> str:
        """The problem and the steps, each before its mark, or before the tag."""
        ends = marks or [TAG] * len(self.steps)
        return f"{self.problem} " + "\n".join(f"{step} {end}" for step, end in zip(self.steps, ends, strict=True))


def is_unambiguous(record: Record) -> bool:
    """Whether no text has a mark of the format, so that `tagged` need not look for one."""
    texts = [step.text for at in record.positions for step in at]
    for label in record.annotations:
        if "given" in label.native:
            return False
        texts += [place.own_text for place in label.path if place.own_text]
    return "Step 1" not in record.problem and TAG not in "\n".join([record.problem, *texts])


def tagged(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[Tagged | Loss]:
    """The rated steps of a label with numbers, since only "Step 1" ends the problem."""
    steps, good, ends = rated_along(record, annotation, neutral)
    problem = as_imported(record, annotation, "problem")
    if any(TAG in text for text in (problem, *steps)) or _FIRST_STEP.search(problem):
        yield Loss("ambiguous")
        return
    if ends:
        yield Loss(ends)
    if not steps:
        return
    yield Tagged(problem, numbered(steps), ["+" if right else "-" for right in good])


def numbered(steps: list[str]) -> list[str]:
    """The steps, with their numbers unless the first is "Step 1"."""
    if _FIRST_STEP.match(steps[0]):
        return steps
    return [f"Step {number}: {step}" for number, step in enumerate(steps, start=1)]


@math_shepherd.writes_label(known_error=False, two_classes=True, by_structure=is_unambiguous)
def _lines(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    if line := stored_line(annotation, "math_shepherd"):
        yield line
        return
    task = as_imported(record, annotation, "domain")
    for written in tagged(record, annotation, neutral):
        if isinstance(written, Tagged):
            yield {
                "input": written.text(),
                "label": written.text(written.marks),
                **({"task": task} if task else {}),
                **other_fields(as_imported(record, annotation, "extra"), _Line),
            }
        else:
            yield written
