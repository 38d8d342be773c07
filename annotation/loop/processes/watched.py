"""A process of our own beside the worker, and the watch over it.

Whatever uses torch runs outside of a worker that forks, for a fork after that hangs, and because a process can
be killed without the worker. It dies with the task that watches it.
"""

import json
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError

from annotation.core.server_paths import without_roots
from prm.messages import Message, from_json

TICK_SECONDS = 0.5
STALL_SECONDS = 15 * 60


class ProcessFailed(Exception):
    """It ended with an exit code other than 0, or by a signal (`code` is then negative); `reason` is its last line."""

    def __init__(self, code: int, reason: str, log: Path) -> None:
        values = {"n": abs(code), "reason": reason, "log": without_roots(str(log))}
        super().__init__(
            Message("process_ended_by_signal", **values) if code < 0 else Message("process_exited", **values)
        )
        self.code, self.reason = code, reason


class ProcessStalled(Exception):
    """It said nothing for too long."""

    def __init__(self) -> None:
        super().__init__(Message("process_silent", n=STALL_SECONDS // 60))


def prm_command(*words: str | Path, devices: str = "") -> list[str]:
    """The library's own command line, in a process that dies with this one; `devices` are the GPUs it may see ("" for
    all)."""
    seen = ["/usr/bin/env", f"CUDA_VISIBLE_DEVICES={devices}"] if devices else []
    return [*seen, sys.executable, "-m", "prm", "--die-with-parent", "--errors-as-json", *map(str, words)]


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
        except (OperationalError, InterfaceError):
            process.kill()  # another worker may begin the same work: its checkpoint is seconds old
            raise
        finally:
            _end(process)
    if process.returncode:
        with open(log, "rb") as written:
            written.seek(start)
            reason = last_line(written.read().decode(errors="replace")) or Message("process_gave_no_reason")
        raise ProcessFailed(process.returncode, reason, log)


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


def last_line(log: str) -> str:
    """The last line that the library wrote; the sentence of an error, which it writes as JSON."""
    lines = without_roots(log).strip().splitlines()
    if not lines:
        return ""
    try:
        return from_json(json.loads(lines[-1])) if lines[-1].startswith('{"code"') else lines[-1]
    except (ValueError, KeyError):
        return lines[-1]
