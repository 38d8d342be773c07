"""Agent runs as OpenAI-style chats: JSON Lines of `{"messages": [{"role", "content", "tool_calls"?}, ...]}`.

The first user message is the problem. Every later message is a step: an assistant's is a tool call if it calls tools,
also in its text (`<tool_call>`, `Action:`), the answer if it is the last one, else reasoning; a tool's or a later
user's is an observation. A chat of a question and one answer is an undivided solution. AgentProcessBench's
`step_labels` rate assistant messages by their 0-based index among all messages, and `final_label` rates the outcome.
"""

from collections.abc import Sequence
from typing import Any, Literal

import msgspec

from prm.formats.labels import annotator_in, index_in, label_to_write, rated_label, step_ratings
from prm.formats.parts import Content, call_text, step_text, text_of
from prm.formats.reading import Unreadable, convert_record
from prm.formats.record import Completion, Record, as_imported
from prm.formats.registry import file_format
from prm.formats.writing import Loss, without_extra
from prm.messages import Message
from prm.splitting.turns import turns_of
from prm.vocabulary import NeutralPolicy, Rating, StepKind


class _Function(msgspec.Struct):
    name: str
    arguments: str | dict[str, Any] = ""


class _Call(msgspec.Struct):
    function: _Function


class ChatMessage(msgspec.Struct):
    role: Literal["system", "developer", "user", "assistant", "tool", "function"]
    content: Content = None
    tool_calls: list[_Call] | None = None
    name: str | None = None


class _Line(msgspec.Struct):
    messages: list[ChatMessage]
    question: str | None = None
    step_labels: dict[str, Rating | None] | None = None
    final_label: Rating | None = None


def record_of(value: Any) -> Record:
    """The record of one line; raises Unreadable naming the place."""
    line = convert_record(value, _Line)
    start = start_of(line.messages)
    if start is None:
        raise Unreadable("messages", Message("no_user_message"))
    steps = steps_of(line.messages[start + 1 :])
    kinds = [step.kind for step in steps]
    labels = _labels(line, start)
    single = labels is None and kinds == ["answer"]
    return Record(
        problem=text_of(line.messages[start].content),
        positions=[] if single else [[step] for step in steps],
        solution_text=steps[0].text if single else None,
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


def start_of(messages: Sequence[ChatMessage]) -> int | None:
    """The index of the first user message, which is the problem."""
    return next((index for index, message in enumerate(messages) if message.role == "user"), None)


def steps_of(messages: Sequence[ChatMessage]) -> list[Completion]:
    """Each message as a step."""
    last = max((index for index, message in enumerate(messages) if message.role == "assistant"), default=-1)
    ends = all(message.role == "user" for message in messages[last + 1 :])
    return [_step(message, ends and index == last) for index, message in enumerate(messages)]


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


def _step(message: ChatMessage, is_last: bool) -> Completion:
    said = text_of(message.content)
    calls = [call_text(call.function.name, call.function.arguments) for call in message.tool_calls or []]
    kind: StepKind = "answer" if is_last else "reasoning"
    if message.role != "assistant":
        kind = "observation"
    elif calls or any(turn.kind == "tool_call" for turn in turns_of(said)):
        kind = "tool_call"
    return Completion(step_text(said, calls), kind=kind)


@messages.writes(by_structure=without_extra)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any] | Loss]:
    """The run with its ratings, if it was read in this format."""
    try:
        line = msgspec.convert(record.extra, _Line)
    except msgspec.ValidationError:  # `messages` of another format
        return [Loss("other_format")]
    start = start_of(line.messages)
    label = label_to_write(record)
    if start is None or (label and len(line.messages) != start + 1 + len(record.positions)):
        return [Loss("other_format")]
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
