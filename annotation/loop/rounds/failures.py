"""Explains the failure of a run: its kind, what happened, and what to do next."""

import errno
import re
from dataclasses import dataclass

from annotation.core import lifecycle
from annotation.core.errors import DomainError
from annotation.models import RunStage
from prm.messages import Message, joined

SETTINGS, MODELS, LABELS = "settings", "models", "labels"


@dataclass(frozen=True)
class Kind:
    """A kind of failure. `next_step` is one sentence; `page` names the page of the project to do it on, or is ""."""

    code: str
    next_step: Message
    page: str = ""


KINDS = {
    kind.code: kind
    for kind in (
        Kind("out_of_memory", Message("out_of_memory_next_step"), SETTINGS),
        Kind("training_data_refused", Message("training_data_refused_next_step"), LABELS),
        Kind("option_unusable", Message("option_unusable_next_step"), SETTINGS),
        Kind("base_missing", Message("base_missing_next_step"), SETTINGS),
        Kind("disk_full", Message("disk_full_next_step"), SETTINGS),
        Kind("folder_unwritable", Message("folder_unwritable_next_step")),
        Kind("worker_died", Message("worker_died_next_step")),
        Kind("killed", Message("killed_next_step"), SETTINGS),
        Kind("trainer_stalled", Message("trainer_stalled_next_step")),
        Kind("model_unusable", Message("model_unusable_next_step"), MODELS),
        Kind("files_gone", Message("files_gone_next_step")),
        Kind("unexpected", Message("unexpected_next_step")),
    )
}

STAGES: dict[str, Message] = {
    RunStage.Name.SNAPSHOT: Message("stage_snapshot"),
    RunStage.Name.TRAIN: Message("stage_train"),
    RunStage.Name.EVALUATE: Message("stage_evaluate"),
    RunStage.Name.GATE: Message("stage_gate"),
    RunStage.Name.PROMOTE: Message("stage_promote"),
    RunStage.Name.SCORE: Message("stage_score"),
    RunStage.Name.SELECT: Message("stage_select"),
    RunStage.Name.SHADOW: Message("stage_shadow"),
}

# Patterns in the message of an error, in the order in which they are tried, and the kind that each stands for.
SIGNS: list[tuple[str, str]] = [
    (r"out of memory|cannot allocate memory|memory does not suffice|MemoryError", "out_of_memory"),
    (r"no space left|disk quota exceeded", "disk_full"),
    (r"permission denied|read-only file system", "folder_unwritable"),
    (r"(^|: )`\w+`: ", "option_unusable"),
    (r"(^|: )backbone '[^']+'", "base_missing"),
    (r"signal 9\b", "killed"),
]
BY_NUMBER = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EACCES: "folder_unwritable",
    errno.EPERM: "folder_unwritable",
    errno.EROFS: "folder_unwritable",
    errno.ENOMEM: "out_of_memory",
    errno.ENOENT: "files_gone",
}


def kind_of(error: Exception) -> Kind:
    """The kind of a failure; "unexpected" if nothing else matches."""
    if code := next((code for sign, code in SIGNS if re.search(sign, str(error), re.IGNORECASE)), None):
        return KINDS[code]
    if isinstance(error, DomainError) and error.code in KINDS:
        return KINDS[error.code]
    if isinstance(error, MemoryError):
        return KINDS["out_of_memory"]
    number = error.errno if isinstance(error, OSError) else None
    return KINDS[BY_NUMBER.get(number or 0, "unexpected")]


def explain(stage: str, error: Exception) -> tuple[str, str]:
    """The kind's code, and the sentences for the run's page: what happened, that the champion stays, what to do."""
    kind = kind_of(error)
    what = what_happened(error)
    if not what.rstrip().endswith((".", "!", "?", ".)")):
        what = Message("full_stop", sentence=what)
    return kind.code, joined([Message("stage_failed", stage=STAGES.get(stage, stage), what=what), kind.next_step])


def what_happened(error: Exception) -> str:
    """The message of an error of a stage."""
    if isinstance(error, DomainError) and error.code == "worker_died":
        return Message("stage_worker_died", n=error.extra["times"])
    return lifecycle.describe_error(error)


def page_of(code: str) -> str:
    """The page for the next step of a kind of failure; "" if there is none."""
    return KINDS[code].page if code in KINDS else ""
