"""What a failure means for the person who reads of it: its kind, and what to do next.

Nothing here changes what serves: a run that fails at any stage leaves the champion as it is.
"""

import errno
import re
from dataclasses import dataclass

from annotation.core import lifecycle
from annotation.core.errors import DomainError
from annotation.core.wording import Said, joined, said
from annotation.models import RunStage

SETTINGS, MODELS, LABELS = "settings", "models", "labels"


@dataclass(frozen=True)
class Kind:
    """`next_step` is one sentence; `page` names the page of the project where it is done, "" where none is."""

    code: str
    next_step: Said
    page: str = ""


KINDS = {
    kind.code: kind
    for kind in (
        Kind(
            "out_of_memory",
            said(
                "Lower `batch_tokens` or `token_budget`, or set `gradient_checkpointing`, in the training choices; "
                "or give the machine more memory."
            ),
            SETTINGS,
        ),
        Kind("training_data_refused", said("Look at the labels that the message names, then retry."), LABELS),
        Kind("base_missing", said("Correct the backbone's name or folder, or fetch it to the machine."), SETTINGS),
        Kind(
            "disk_full", said("Free space under the data folder (old models, fewer days kept), then retry."), SETTINGS
        ),
        Kind("folder_unwritable", said("Let the workers' user write to the data folder (VAR_DIR), then retry.")),
        Kind("worker_died", said("Look at the worker's log and at the machine's memory, then retry.")),
        Kind(
            "killed",
            said("The machine likely ran out of memory: see the kernel's log, lower `batch_tokens`."),
            SETTINGS,
        ),
        Kind("trainer_stalled", said("Look at the machine that trains; a retry goes on from the last checkpoint.")),
        Kind("model_unusable", said("Its files were damaged or removed: retrain, or promote another version."), MODELS),
        Kind("files_gone", said("Files of this run were removed: begin a new run.")),
        Kind("unexpected", said("Retry once; if it fails again, send the log to whoever runs this server.")),
    )
}  # fmt: skip

STAGES: dict[str, Said] = {
    RunStage.Name.SNAPSHOT: said("snapshot"),
    RunStage.Name.TRAIN: said("train"),
    RunStage.Name.EVALUATE: said("evaluate"),
    RunStage.Name.GATE: said("gate"),
    RunStage.Name.PROMOTE: said("promote"),
    RunStage.Name.SCORE: said("score the pool"),
    RunStage.Name.SELECT: said("select"),
    RunStage.Name.SHADOW: said("shadow"),
}

# What is looked for in the message of an error that does not name its kind, in this order.
SIGNS: list[tuple[str, str]] = [
    (r"out of memory|cannot allocate memory|memory does not suffice|MemoryError", "out_of_memory"),
    (r"no space left|disk quota exceeded", "disk_full"),
    (r"permission denied|read-only file system", "folder_unwritable"),
    (r"backbone '[^']+':", "base_missing"),
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
    """The kind of a failure; "unexpected" where nothing is known of it."""
    return KINDS[_by_sign(str(error)) or _by_type(error) or "unexpected"]


def explain(stage: str, error: Exception) -> tuple[str, str]:
    """The kind's code, and the sentences for the run's page: what happened, what stays, what to do."""
    kind = kind_of(error)
    sentence = said(
        "The stage “{stage}” failed: {what} The champion goes on serving.",
        stage=STAGES.get(stage, stage),
        what=_ended(what_happened(error)),
    )
    return kind.code, joined([sentence, kind.next_step])


def what_happened(error: Exception) -> str:
    """What an error says, of its stage."""
    if isinstance(error, DomainError) and error.code == "worker_died":
        return said("its worker died {n} times.", n=error.extra["times"])
    return lifecycle.what_happened(error)


def page_of(code: str) -> str:
    """Where the next step is done; "" for nowhere in particular."""
    return KINDS[code].page if code in KINDS else ""


def _by_sign(message: str) -> str | None:
    return next((code for sign, code in SIGNS if re.search(sign, message, re.IGNORECASE)), None)


def _by_type(error: Exception) -> str | None:
    if isinstance(error, DomainError) and error.code in KINDS:
        return error.code
    if isinstance(error, MemoryError):
        return "out_of_memory"
    if isinstance(error, OSError) and error.errno is not None:
        return BY_NUMBER.get(error.errno)
    return None


def _ended(sentence: str) -> str:
    ends = sentence.rstrip().endswith((".", "!", "?", ".)"))
    return sentence if ends else said("{sentence}.", sentence=sentence)
