"""Who&When (Zhang et al. 2025, github.com/ag2ai/Agents_Failure_Attribution): one failed multi-agent run per file.

`history` holds the messages; `mistake_step` is the 0-based index, as a string, of the message whose mistake made the
run fail. Earlier messages may have mistakes that were corrected, so only this one is rated.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, index_in
from prm.formats.reading import Unreadable, convert_record, whole
from prm.formats.record import Completion, PathPosition, Rating, Record, RecordAnnotation, as_imported
from prm.formats.registry import file_format
from prm.formats.writing import Loss, without_extra
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, StepKind

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


@file_format(
    "who_and_when", label=Message("format_who_and_when"), keys=("question", "history", "mistake_step"), members=whole
)
def who_and_when(value: Any) -> Record:
    run = convert_record(value, _Run)
    error = index_in(str(run.mistake_step))
    if error is None or error >= len(run.history):
        step = str(run.mistake_step)[:40]
        raise Unreadable("mistake_step", Message("mistake_step_out_of_range", given=step, last=len(run.history) - 1))
    path = [PathPosition(position, chosen=0) for position in range(error)]
    path.append(PathPosition(error, ratings=[Rating(0, "rated", rating=-1)]))
    return Record(
        problem=run.question,
        positions=[[Completion(_text(message), kind=_kind(run.history, k))] for k, message in enumerate(run.history)],
        reference_answer=run.ground_truth,
        external_id=run.question_ID,
        final_answer_correct=run.is_correct,
        extra={key: value[key] for key in value if key != "mistake_step"},
        annotations=[
            RecordAnnotation(
                source_kind="human",
                source_name=annotator_in(value, "who_and_when"),
                finish_reason="found_error",
                path=path,
                first_error=error,
                native={"mistake_step": value["mistake_step"]},
            )
        ],
    )


@who_and_when.writes_label(by_structure=without_extra)
def _lines(record: Record, label: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any] | Loss]:
    """The run with its first error, if it was read in this format."""
    history = record.extra.get("history") if "question" in record.extra else None
    if not isinstance(history, list) or len(history) != len(record.positions):
        yield Loss("other_format")
        return
    yield {
        **as_imported(record, label, "extra"),
        "mistake_step": label.native.get("mistake_step", str(label.first_error)),
    }


def _text(message: _Message) -> str:
    """The message with its speaker, which matters for a judgement."""
    speaker = message.name or message.role
    return f"{speaker}: {message.content}" if speaker else message.content


def _kind(history: list[_Message], place: int) -> StepKind:
    """A message with code is a tool call if the terminal's message follows, which runs the code."""
    if history[place].name == TERMINAL:
        return "observation"
    is_run = place + 1 < len(history) and history[place + 1].name == TERMINAL
    return "tool_call" if is_run and "```" in history[place].content else "reasoning"
