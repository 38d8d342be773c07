"""τ-bench's results (github.com/sierra-research/tau-bench): a JSON array with one run of a task per element.

`traj` holds the chat with the simulated user as in the format `messages`, whose first user message is the problem.
`reward` is 1 for a run that did what the task asked. The runs of a task are in one source group. The format has no
labels, so a run is written as it was read.
"""

from typing import Any

import msgspec

from prm.formats.messages import ChatMessage, start_of, steps_of
from prm.formats.parts import text_of
from prm.formats.reading import Unreadable, convert_record, fits
from prm.formats.record import Record
from prm.formats.registry import file_format
from prm.formats.writing import Loss, without_extra
from prm.messages import Message
from prm.vocabulary import NeutralPolicy


class _Run(msgspec.Struct):
    task_id: int | str
    traj: list[ChatMessage]
    reward: float | None = None
    trial: int = 0


@file_format("tau_bench", label=Message("format_tau_bench"), keys=("task_id", "traj", "role"))
def tau_bench(value: Any) -> Record:
    run = convert_record(value, _Run)
    start = start_of(run.traj)
    if start is None:
        raise Unreadable("traj", Message("no_user_message"))
    return Record(
        problem=text_of(run.traj[start].content),
        positions=[[step] for step in steps_of(run.traj[start + 1 :])],
        source_group=f"tau_bench {run.task_id}",
        external_id=f"{run.task_id}/{run.trial}",
        final_answer_correct=None if run.reward is None else run.reward == 1,
        extra=value,
    )


@tau_bench.writes(not_held=("labels",), by_structure=without_extra)
def _lines(record: Record, neutral: NeutralPolicy) -> list[dict[str, Any] | Loss]:
    """The run, if it was read in this format."""
    return [record.extra] if fits(record.extra, _Run) else [Loss("other_format")]
