"""The trainer: a watched process of the library's `train`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.core.errors import DomainError
from annotation.loop.processes.watched import ProcessFailed, ProcessStalled, prm_command, watch
from prm.messages import Message

REFUSED_DATA = 3


def train(
    *,
    data: Path,
    out: Path,
    config: Path,
    log: Path,
    devices: str = "",
    on_progress: Callable[[dict[str, Any]], None],
    on_tick: Callable[[], None],
) -> None:
    """Train on `data` into `out`, which goes on from its checkpoint where it has one.

    `on_progress` gets each progress line as a dict; `on_tick` is called about twice a second and may
    raise, which ends the training once its checkpoint is written. `devices` are the GPUs it may see ("" for all).
    `log` gets what the trainer writes to stderr. Raises DomainError with the trainer's own reason.
    """

    def hear(line: str) -> None:
        if line.startswith("{"):
            on_progress(json.loads(line))

    cache = settings.MODEL_ROOT / "cache"
    where = ("--data", data, "--out", out, "--config", config, "--cache", cache)
    try:
        watch(prm_command("train", *where, devices=devices), log=log, on_line=hear, on_tick=on_tick)
    except ProcessStalled as error:
        raise DomainError(Message("trainer_silent", error=error), code="trainer_stalled") from error
    except ProcessFailed as error:
        if error.exit_code == REFUSED_DATA:
            refused = Message("trainer_refused_data", reason=error.reason)
            raise DomainError(refused, code="training_data_refused") from error
        raise DomainError(Message("trainer_ended", error=error), code="training_failed") from error
