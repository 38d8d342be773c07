"""Runs the library's `train` in a watched subprocess."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.loop.processes.watched import ProcessFailed, ProcessStalled, prm_command, watch
from prm.errors import DataError
from prm.messages import Message


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
    """Train on `data` into `out`, from the checkpoint there if it has one.

    `on_progress` gets each progress line as a dict. `on_tick` is called about twice a second and may raise, which ends
    the training after a checkpoint. `devices` are the GPUs that it may use, "" for all. `log` gets the trainer's
    stderr. Raises DomainError with the trainer's own reason.
    """

    def read_line(line: str) -> None:
        if line.startswith("{"):
            on_progress(json.loads(line))

    cache = storage.path_of("models/cache")  # of this machine alone
    paths = ("--data", data, "--out", out, "--config", config, "--cache", cache)
    try:
        watch(prm_command("train", *paths, devices=devices), log=log, on_line=read_line, on_tick=on_tick)
    except ProcessStalled as error:
        raise DomainError(Message("trainer_silent", error=error), code="trainer_stalled") from error
    except ProcessFailed as error:
        if error.exit_code == DataError.exit_code:
            refused = Message("trainer_refused_data", reason=error.reason)
            raise DomainError(refused, code="training_data_refused") from error
        raise DomainError(Message("trainer_ended", error=error), code="training_failed") from error
