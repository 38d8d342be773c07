"""A process of our own beside the worker, and the watch over it.

Whatever uses torch runs outside of a worker that forks, for a fork after that hangs, and because a process can
be killed without the worker. It dies with the task that watches it.
"""

import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings

from annotation.rounds.lock import LockLost

TICK_SECONDS = 0.5
STALL_SECONDS = 15 * 60


class ProcessFailed(Exception):
    """It ended with an exit code other than 0, or by a signal (`code` is then negative); `reason` is its last line."""

    def __init__(self, code: int, reason: str, log: Path) -> None:
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        super().__init__(f"{how}: {reason} (log: {log})")
        self.code, self.reason = code, reason


class ProcessStalled(Exception):
    """It said nothing for too long."""

    def __init__(self) -> None:
        super().__init__(f"said nothing for {STALL_SECONDS // 60} minutes")


def prm_command(*words: str | Path, devices: str = "") -> list[str]:
    """The library's own command line, in a process that dies with this one; `devices` are the GPUs it may see ("" for
    all)."""
    seen = ["/usr/bin/env", f"CUDA_VISIBLE_DEVICES={devices}"] if devices else []
    return [*seen, sys.executable, "-m", "prm", "--die-with-parent", *map(str, words)]


def watch(
    command: Sequence[str],
    *,
    log: Path,
    on_tick: Callable[[], None],
    on_line: Callable[[str], None] = lambda line: None,
) -> None:
    """Run `command` to its end.

    `on_line` gets each line of its output; `on_tick` is called about twice a second and
    may raise, which ends the process. `log` gets what it writes to stderr. Raises ProcessFailed, ProcessStalled.
    """
    with open(log, "ab") as errors:
        start = errors.tell()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, cwd=settings.BASE_DIR
        )
        try:
            _watch(process, on_line, on_tick)
        except LockLost:
            process.kill()  # another worker may begin the same work: its checkpoint is seconds old
            raise
        finally:
            _end(process)
    if process.returncode:
        raise ProcessFailed(process.returncode, _last_line(log, start), log)


def _watch(
    process: subprocess.Popen[bytes],
    on_line: Callable[[str], None],
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
                    raise ProcessStalled
                continue
            silent = 0.0
            chunk = stream.read1(65536)  # type: ignore[attr-defined]
            if not chunk:
                break
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                on_line(line.decode(errors="replace"))
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
            process.wait(settings.TRAINER_GRACE_SECONDS)  # for the checkpoint of what was done
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def _last_line(log: Path, start: int) -> str:
    with open(log, "rb") as written:
        written.seek(start)
        lines = written.read().decode(errors="replace").strip().splitlines()
    return lines[-1] if lines else "it gave no reason"
