"""RLHFlow's chat form of step labels (huggingface.co/datasets/RLHFlow/Mistral-PRM-Data): JSON Lines.

`conversations` alternates a step from the user with `+` or `-` from the assistant. The first turn also holds the
problem, before "Step 1" or else before the turn's last blank line. Steps are therefore written with numbers if the
first has a blank line. The labels are Monte Carlo estimates.
"""

import re
from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from prm.formats.labels import annotator_in, rated_along, rated_label
from prm.formats.math_shepherd import MARKS, is_unambiguous, numbered
from prm.formats.reading import Unreadable, convert_record, other_fields
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled, stored_line
from prm.formats.registry import file_format
from prm.formats.writing import Loss
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

_FIRST_STEP = re.compile(r"\s*(?=Step 1\b)")


class _Turn(msgspec.Struct):
    role: Literal["user", "assistant"]
    content: str


class _Line(msgspec.Struct):
    conversations: list[_Turn]


@file_format("rlhflow", label=Message("format_rlhflow"), keys=("conversations", "role", "content"))
def rlhflow(value: Any) -> Record:
    turns = convert_record(value, _Line).conversations
    for number, turn in enumerate(turns):
        field = f"conversations[{number}]"
        if turn.role != ("user", "assistant")[number % 2]:
            raise Unreadable(f"{field}.role", Message("turns_not_alternating"))
        if number % 2 and turn.content.strip() not in MARKS:
            raise Unreadable(f"{field}.content", Message("label_not_plus_or_minus"))
    if not turns or len(turns) % 2:
        raise Unreadable("conversations", Message("turn_label_missing"))
    problem, joint, first = _part(turns[0].content)
    record = Record(
        problem=problem,
        positions=sampled([first, *(turn.content for turn in turns[2::2])]),
        extra=other_fields(value, _Line),
        annotations=[
            rated_label(
                [MARKS[turn.content.strip()] for turn in turns[1::2]],
                kind="monte_carlo",
                name=annotator_in(value, "rlhflow"),
                native={"joint": joint},
            )
        ],
    )
    if list(_lines(record, record.annotations[0], "positive")) != [value]:
        record.annotations[0].native = {"format": "rlhflow", "line": value}
    return record


def _part(content: str) -> tuple[str, str, str]:
    """The problem, the white space after it, and the first step."""
    if match := _FIRST_STEP.search(content):
        return content[: match.start()], match[0], content[match.end() :]
    problem, joint, step = content.rpartition("\n\n")
    if not joint:
        raise Unreadable("conversations[0].content", Message("first_turn_invalid"))
    return problem, joint, step


def _is_parted(problem: str, joint: str, step: str) -> bool:
    """Whether a reader finds the problem and the first step in the turn with both, white space aside."""
    content = problem + joint + step
    read = _part(content) if _FIRST_STEP.search(content) or "\n\n" in content else ()
    return [text.strip() for text in read[::2]] == [problem.strip(), step.strip()]


@rlhflow.writes_label(known_error=False, two_classes=True, version="2", by_structure=is_unambiguous)
def _lines(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    if line := stored_line(annotation, "rlhflow"):
        yield line
        return
    steps, good, ends = rated_along(record, annotation, neutral)
    problem, joint = as_imported(record, annotation, "problem"), annotation.native.get("joint", "\n\n")
    if steps and not _is_parted(problem, joint, steps[0]):
        steps = numbered(steps)
        if not _is_parted(problem, joint, steps[0]):
            yield Loss("ambiguous")
            return
    if ends:
        yield Loss(ends)
    if not steps:
        return
    turns = []
    for step, right in zip([problem + joint + steps[0], *steps[1:]], good, strict=True):
        turns += [{"role": "user", "content": step}, {"role": "assistant", "content": "+" if right else "-"}]
    yield {"conversations": turns, **other_fields(as_imported(record, annotation, "extra"), _Line)}
