"""SWE-agent's trajectories (github.com/SWE-agent/SWE-agent, `.traj`): one run per file or line.

`trajectory` lists turns of thought, action and observation. `history` lists the messages; the first user message that
is not a demonstration holds the issue. `info` has the exit status and the submitted patch. A turn becomes up to three
steps, and the patch becomes the answer. The format has no labels, so a run is written as it was read.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.parts import Content, step_text, text_of
from prm.formats.reading import Unreadable, convert_record, fits, whole
from prm.formats.record import Completion, Provenance, Record
from prm.formats.registry import file_format
from prm.formats.writing import Loss, without_extra
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, StepKind

_EDITING = re.compile(r"^\s*(?:edit|str_replace_editor\s+(?:create|str_replace|insert)|create|insert)\b")


class _Turn(msgspec.Struct):
    action: str | None = None
    observation: Content = None
    thought: str | None = None
    response: str | None = None


class _Message(msgspec.Struct):
    role: str
    content: Content = None
    is_demo: bool = False


class _Info(msgspec.Struct):
    exit_status: str | int | None = None
    submission: str | dict[str, Any] | None = None


class _Run(msgspec.Struct):
    trajectory: list[_Turn]
    info: _Info
    history: list[_Message] = []
    replay_config: str | dict[str, Any] | None = None
    instance_id: str = ""
    environment: str = ""
    problem_statement: str = ""


@file_format(
    "swe_agent",
    label=Message("format_swe_agent"),
    keys=("trajectory", "info", "action", "observation"),
    members=whole,
)
def swe_agent(value: Any) -> Record:
    run = convert_record(value, _Run)
    settings = _settings(run.replay_config)
    problem = _problem(run, settings)
    if not problem:
        raise Unreadable("history", Message("task_missing"))
    model = _inner(settings, "agent", "model", "name")
    temperature = _inner(settings, "agent", "model", "temperature")
    policy = model if isinstance(model, str) else ""
    return Record(
        problem=problem,
        positions=[[step] for step in _steps(run)],
        external_id=run.instance_id or str(_inner(settings, "problem_statement", "id") or ""),
        generator=policy,
        provenance=Provenance(
            policy=policy,
            temperature=float(temperature) if type(temperature) in (int, float) and temperature >= 0 else None,
            scaffold="SWE-agent",
        ),
        extra=value,
    )


@swe_agent.writes(not_held=("labels",), by_structure=without_extra)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any] | Loss]:
    """The run, if it was read in this format."""
    return [record.extra] if fits(record.extra, _Run) else [Loss("other_format")]


def _steps(run: _Run) -> Iterator[Completion]:
    for turn in run.trajectory:
        action = (turn.action or "").strip()
        if thought := step_text(turn.thought or ("" if action else turn.response) or "", []).strip():
            yield Completion(thought)
        if action:
            kind: StepKind = "edit" if _EDITING.match(action) else "tool_call"
            yield Completion(action, kind=kind)
        if seen := text_of(turn.observation).strip():
            yield Completion(seen, kind="observation")
    if isinstance(run.info.submission, str) and run.info.submission.strip():
        yield Completion(run.info.submission, kind="answer")


def _problem(run: _Run, settings: dict[str, Any]) -> str:
    """The issue if the run states it, else the message that asks for its solution."""
    issue = run.problem_statement or _inner(settings, "problem_statement", "text")
    if isinstance(issue, str) and issue.strip():
        return issue
    requests = (text_of(one.content) for one in run.history if one.role == "user" and not one.is_demo)
    return next((text for text in requests if text.strip()), "")


def _settings(config: str | dict[str, Any] | None) -> dict[str, Any]:
    """The run's configuration; newer versions store it as JSON text."""
    if isinstance(config, dict):
        return config
    try:
        decoded = msgspec.json.decode(config) if config else {}
    except (msgspec.DecodeError, RecursionError):
        return {}
    return decoded if isinstance(decoded, dict) else {}


def _inner(settings: dict[str, Any], *keys: str) -> Any:
    value: Any = settings
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value
