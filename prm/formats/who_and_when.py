"""Who&When (Zhang et al. 2025, github.com/ag2ai/Agents_Failure_Attribution): a failed run of several agents a file.

`history` holds the messages; `mistake_step` is the 0-based index, as a string, of the message whose mistake
decided that the run failed. Messages before it may hold mistakes that were made good, so it alone is rated.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from prm.formats.given import annotator_in, index_in, label_to_write
from prm.formats.reading import Numbered, Unreadable, read_documents
from prm.formats.record import (  # fmt: skip
    Completion,
    PathPosition,
    Rating,
    Record,
    RecordAnnotation,
    StepKind,
    as_given,
)
from prm.messages import Message

SOURCE = "who_and_when"
TERMINAL = "Computer_terminal"


class _Message(msgspec.Struct):
    content: str
    role: str = ""
    name: str = ""


class _Run(msgspec.Struct):
    question: str
    history: list[_Message]
    mistake_step: str | int
    question_ID: str = ""
    ground_truth: str | None = None
    is_correct: bool | None = None


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_documents(stream, lambda document: [document], _record, skip=skip)


def write(records: Iterable[Record]) -> Iterator[bytes]:
    """One line for each run that was read in this format, with the first error that is known of it."""
    for record in records:
        label = label_to_write(record.annotations, SOURCE)
        if label and "history" in record.extra:
            mistake = label.native.get("mistake_step", str(label.first_error))
            yield msgspec.json.encode({**as_given(record, label, "extra"), "mistake_step": mistake}) + b"\n"


def _record(value: Any) -> Record:
    run = msgspec.convert(value, _Run)
    error = index_in(str(run.mistake_step))
    if error is None or error >= len(run.history):
        given = str(run.mistake_step)[:40]
        raise Unreadable("mistake_step", Message("mistake_step_out_of_range", given=given, last=len(run.history) - 1))
    path = [PathPosition(position, chosen=0) for position in range(error)]
    path.append(PathPosition(error, ratings=[Rating(0, "rated", rating=-1)]))
    return Record(
        problem=run.question,
        positions=[[Completion(_text(message), kind=_kind(message))] for message in run.history],
        reference_answer=run.ground_truth,
        external_id=run.question_ID,
        final_answer_correct=run.is_correct,
        extra={key: value[key] for key in value if key != "mistake_step"},
        annotations=[
            RecordAnnotation(
                source_kind="human",
                source_name=annotator_in(value, SOURCE),
                finish_reason="found_error",
                path=path,
                first_error=error,
                native={"mistake_step": value["mistake_step"]},
            )
        ],
    )


def _text(message: _Message) -> str:
    """Who speaks is part of what there is to judge."""
    speaker = message.name or message.role
    return f"{speaker}: {message.content}" if speaker else message.content


def _kind(message: _Message) -> StepKind:
    return "observation" if message.name == TERMINAL else "reasoning"
