"""Agent runs as OpenAI-style chats: JSON Lines of `{"messages": [{"role", "content", "tool_calls"?}, ...]}`.

The first user message is the problem. Every later message is a step: an assistant's is a tool call if it calls tools,
the answer if it ends the run, else reasoning; a tool's or a later user's is an observation. AgentProcessBench's
`step_labels` rate assistant messages by their 0-based index among all messages, and `final_label` rates the outcome.
"""

from typing import Any, Literal

import msgspec

from prm.formats.labels import annotator_in, index_in, label_to_write, rated_label, step_ratings
from prm.formats.parts import Content, call_text, step_text, text_of
from prm.formats.reading import Unreadable
from prm.formats.record import Completion, Record, as_imported
from prm.formats.registry import file_format
from prm.formats.writing import Loss
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, Rating, StepKind


class _Function(msgspec.Struct):
    name: str
    arguments: str | dict[str, Any] = ""


class _Call(msgspec.Struct):
    function: _Function


class _Message(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None
    tool_calls: list[_Call] | None = None
    name: str | None = None


class _Line(msgspec.Struct):
    messages: list[_Message]
    question: str | None = None
    step_labels: dict[str, Rating | None] | None = None
    final_label: Rating | None = None


def record_of(value: Any) -> Record:
    """The record of one line; raises msgspec.ValidationError or Unreadable naming the place."""
    line = msgspec.convert(value, _Line)
    start = _start(line)
    if start is None:
        raise Unreadable("messages", Message("no_user_message"))
    steps = line.messages[start + 1 :]
    labels = _labels(line, start)
    kinds = [_kind(message, number == len(steps)) for number, message in enumerate(steps, start=1)]
    return Record(
        problem=text_of(line.messages[start].content),
        positions=[[Completion(_step(message), kind=kind)] for message, kind in zip(steps, kinds, strict=True)],
        final_answer_correct={1: True, -1: False}.get(line.final_label or 0),
        extra={key: value[key] for key in value if key != "step_labels"},
        annotations=[] if labels is None else [
            rated_label(
                labels, kind="human", name=annotator_in(value, "messages"), kinds=kinds,
                native={"step_labels": value["step_labels"]},
            )
        ],
    )  # fmt: skip


messages = file_format("messages", label=Message("format_messages"), keys=("messages", "role"))(record_of)


def _start(line: _Line) -> int | None:
    """The index of the first user message, which is the problem."""
    return next((index for index, message in enumerate(line.messages) if message.role == "user"), None)


def _labels(line: _Line, start: int) -> list[int | None] | None:
    """A rating for each step, from labels keyed by the index of their message."""
    if line.step_labels is None:
        return None
    ratings: list[int | None] = [None] * (len(line.messages) - start - 1)
    for key, rating in line.step_labels.items():
        index = index_in(key)
        if index is None or not start < index < len(line.messages) or line.messages[index].role != "assistant":
            raise Unreadable(f"step_labels.{key[:40]}", Message("assistant_index_invalid"))
        ratings[index - start - 1] = rating
    return ratings


def _step(message: _Message) -> str:
    calls = [call_text(call.function.name, call.function.arguments) for call in message.tool_calls or []]
    return step_text(text_of(message.content), calls) or "(empty message)"


def _kind(message: _Message, last: bool) -> StepKind:
    if message.role != "assistant":
        return "observation"
    return "tool_call" if message.tool_calls else "answer" if last else "reasoning"


@messages.writes()
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any] | Loss]:
    """The run with its ratings, if it was read in this format."""
    try:
        line = msgspec.convert(record.extra, _Line)
    except msgspec.ValidationError:  # `messages` of another format
        return [Loss("other_format")]
    start = _start(line)
    if start is None or len(line.messages) != start + 1 + len(record.positions):
        return [Loss("other_format")]
    label = label_to_write(record)
    if label is None:
        return [record.extra]
    if "step_labels" in label.native:
        return [{**as_imported(record, label, "extra"), "step_labels": label.native["step_labels"]}]
    ratings = enumerate(step_ratings(label, len(record.positions)), start=start + 1)
    by_index = {
        str(index): rating
        for index, rating in ratings
        if rating is not None and line.messages[index].role == "assistant"
    }
    return [{**record.extra, "step_labels": by_index}]
