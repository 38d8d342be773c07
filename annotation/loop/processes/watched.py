"""Runs a command of the library in a subprocess and watches it.

Code that uses torch does not run in a worker that forks: a fork after importing torch hangs, and a subprocess can be
killed without the worker. The subprocess dies with the task that watches it.
"""

import json
import os
import selectors
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError

from annotation.core.errors import DomainError
from annotation.core.server_paths import without_roots
from prm.messages import Message, from_json

TICK_SECONDS = 0.5
STALL_SECONDS = 15 * 60
LONGEST_END = 16_000  # bytes of a log in which its last line is looked for


class ProcessFailed(DomainError):
    """The process ended with an `exit_code` other than 0, negative for a signal; `reason` is the last line of its log
    after byte `start`."""

    def __init__(self, exit_code: int, log: Path, start: int) -> None:
        self.exit_code = exit_code
        self.reason = last_line(log, start) or Message("process_gave_no_reason")
        sentence = "process_ended_by_signal" if exit_code < 0 else "process_exited"
        super().__init__(Message(sentence, n=abs(exit_code), reason=self.reason, log=log), code="process_failed")


class ProcessStalled(DomainError):
    """The process wrote nothing for STALL_SECONDS."""

    def __init__(self) -> None:
        super().__init__(Message("process_silent", n=STALL_SECONDS // 60))


def prm_command(*words: str | Path, devices: str = "") -> list[str]:
    """The command line of one of the library's commands, in a process that dies with this one.

    `devices` are the GPUs that it may use, "" for all.
    """
    environment = ["/usr/bin/env", f"CUDA_VISIBLE_DEVICES={devices}"] if devices else []
    return [*environment, sys.executable, "-m", "prm", "--die-with-parent", "--errors-as-json", *map(str, words)]


def watch(
    command: Sequence[str],
    *,
    log: Path,
    on_tick: Callable[[], None],
    on_line: Callable[[str], None] = lambda line: None,
) -> None:
    """Run `command` and wait for its end.

    `on_line` gets each line of its stdout, `log` its stderr. `on_tick` is called about twice a second and may raise,
    which ends the process. Raises ProcessFailed, ProcessStalled.
    """
    with open(log, "ab") as errors:
        start = errors.tell()
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, stdin=subprocess.DEVNULL, cwd=settings.BASE_DIR
        )
        try:
            _watch(process, on_line, on_tick)
        except (OperationalError, InterfaceError):
            process.kill()  # another worker may start the same work; the last checkpoint is seconds old
            raise
        finally:
            _end(process)
    if process.returncode:
        raise ProcessFailed(process.returncode, log, start)


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
            process.wait(settings.TRAINER_GRACE_SECONDS)  # to write a checkpoint
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()


def last_line(log: Path, start: int = 0) -> str:
    """The last line in a log of the library after byte `start`; for an error, which is JSON there, its sentence."""
    with open(log, "rb") as file:
        file.seek(max(start, file.seek(0, os.SEEK_END) - LONGEST_END))
        lines = without_roots(file.read().decode(errors="replace")).strip().splitlines()
    if not lines:
        return ""
    try:
        return from_json(json.loads(lines[-1])) if lines[-1].startswith('{"code"') else lines[-1]
    except (ValueError, KeyError):
        return lines[-1]
