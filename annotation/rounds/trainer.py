"""The training subprocess and its watch.

Training runs outside of the worker because forking after torch has been used hangs the child, and
because it can be killed without the worker. It dies with the task that watches it.
"""

import json
import selectors
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from django.conf import settings

from annotation.errors import DomainError
from annotation.rounds.lock import LockLost

REFUSED_DATA = 3
TICK_SECONDS = 0.5
STALL_SECONDS = 15 * 60


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
    with open(log, "ab") as errors:
        start = errors.tell()
        process = subprocess.Popen(
            _command(data, out, config, devices),
            stdout=subprocess.PIPE,
            stderr=errors,
            stdin=subprocess.DEVNULL,
            cwd=settings.BASE_DIR,
        )
        try:
            _watch(process, on_progress, on_tick)
        except LockLost:
            process.kill()  # another worker may begin the same training: its checkpoint is seconds old
            raise
        finally:
            _end(process)
    if process.returncode:
        raise _failure(process.returncode, log, start)


def _command(data: Path, out: Path, config: Path, devices: str) -> list[str]:
    seen = ["/usr/bin/env", f"CUDA_VISIBLE_DEVICES={devices}"] if devices else []
    train = [*seen, sys.executable, "-m", "prm", "--die-with-parent", "train"]
    cache = settings.MODEL_ROOT / "cache"
    return [*train, "--data", str(data), "--out", str(out), "--config", str(config), "--cache", str(cache)]


def _watch(
    process: subprocess.Popen[bytes],
    on_progress: Callable[[dict[str, Any]], None],
    on_tick: Callable[[], None],
) -> None:
    assert process.stdout is not None
    stream = process.stdout
    pending, silent = b"", 0.0
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while True:
            on_tick()
            if not selector.select(TICK_SECONDS):
                silent += TICK_SECONDS
                if silent > STALL_SECONDS:
                    raise DomainError("trainer_stalled", f"the trainer said nothing for {STALL_SECONDS // 60} minutes.")
                continue
            silent = 0.0
            chunk = stream.read1(65536)  # type: ignore[attr-defined]
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                if line.startswith(b"{"):
                    on_progress(json.loads(line))
    while process.poll() is None:
        on_tick()
        try:
            process.wait(TICK_SECONDS)
        except subprocess.TimeoutExpired:
            continue


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(settings.TRAINER_GRACE_SECONDS)  # for the checkpoint of what was learned
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _failure(code: int, log: Path, start: int) -> DomainError:
    with open(log, "rb") as written:
        written.seek(start)
        lines = written.read().decode(errors="replace").strip().splitlines()
    last = lines[-1] if lines else "it gave no reason"
    if code == REFUSED_DATA:
        return DomainError("training_data_refused", f"the training data were refused: {last}.")
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return DomainError("training_failed", f"the trainer ended with {how}: {last} (log: {log}).")
