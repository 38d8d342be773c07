"""ATIF, Harbor's agent trajectory interchange format (schema_version "ATIF-v1.x"): one run per file or line.

The first user message is the problem. An agent's step becomes up to three: its reasoning or message, its tool calls,
and their results. The format has no labels, so a run is written as it was read.
"""

from collections.abc import Iterator
from typing import Any, Literal

import msgspec

from prm.formats.parts import Content, call_text, step_text, text_of
from prm.formats.reading import Unreadable, convert_record, fits, whole
from prm.formats.record import Completion, Record
from prm.formats.registry import file_format
from prm.formats.writing import Loss, without_extra
from prm.messages import Message
from prm.vocabulary import NeutralPolicy


class _Call(msgspec.Struct):
    function_name: str
    arguments: Any = None


class _Result(msgspec.Struct):
    content: Content = None


class _Observation(msgspec.Struct):
    results: list[_Result] = []


class _Step(msgspec.Struct):
    source: Literal["system", "user", "agent"]
    message: Content = None
    reasoning_content: str | None = None
    tool_calls: list[_Call] | None = None
    observation: _Observation | None = None


class _Agent(msgspec.Struct):
    name: str
    model_name: str | None = None


class _Run(msgspec.Struct):
    schema_version: str
    steps: list[_Step]
    agent: _Agent
    session_id: str = ""


@file_format(
    "atif",
    label=Message("format_atif"),
    keys=("schema_version", "steps", "source", "agent"),
    members=whole,
)
def atif(value: Any) -> Record:
    run = convert_record(value, _Run)
    if not run.schema_version.startswith("ATIF"):
        raise Unreadable("schema_version", Message("atif_version_unknown", version=run.schema_version))
    start = next((k for k, step in enumerate(run.steps) if step.source == "user"), None)
    if start is None:
        raise Unreadable("steps", Message("no_user_request"))
    return Record(
        problem=text_of(run.steps[start].message),
        positions=[[completion] for step in run.steps[start + 1 :] for completion in _completions(step)],
        external_id=run.session_id,
        generator=" ".join(part for part in (run.agent.name, run.agent.model_name) if part),
        extra=value,
    )


@atif.writes(not_held=("labels",), by_structure=without_extra)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any] | Loss]:
    """The run, if it was read in this format."""
    return (
        [record.extra]
        if fits(record.extra, _Run) and record.extra["schema_version"].startswith("ATIF")
        else [Loss("other_format")]
    )


def _completions(step: _Step) -> Iterator[Completion]:
    message = text_of(step.message)
    if step.source != "agent":
        if message:
            yield Completion(message, kind="observation")
        return
    if thought := step_text(step.reasoning_content or "", [message]):
        yield Completion(thought)
    if step.tool_calls:
        calls = [call_text(call.function_name, call.arguments) for call in step.tool_calls]
        yield Completion("\n".join(calls), kind="tool_call")
    for result in step.observation.results if step.observation else []:
        if seen := text_of(result.content):
            yield Completion(seen, kind="observation")
