"""The library's commands in the test's own process: each process of their own takes 6 CPU s to import torch.

For tests that are not about the process; `test_rounds_with_workers.py` is.
"""

import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from annotation.loop.model_jobs import auditing, exporting, importing
from annotation.loop.processes.watched import ProcessFailed, prm_command
from annotation.loop.rounds import trainer
from annotation.loop.rounds.stages import shadow
from annotation.models import ModelJob
from prm.__main__ import main


def stay_in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the processes that rounds and model jobs start in the test's own process."""
    for module in (trainer, shadow):
        monkeypatch.setattr(module, "watch", watch)
    for job in (auditing, exporting, importing):
        monkeypatch.setattr(job, "run_command", _run_command)


class _Lines(StringIO):
    """Calls `on_line` for each line that is written."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        super().__init__()
        self._on_line = on_line

    def write(self, text: str) -> int:
        *lines, rest = (self.getvalue() + text).split("\n")
        self.seek(0)
        self.truncate()
        for line in lines:
            self._on_line(line)
        return super().write(rest)


def watch(
    command: Sequence[str],
    *,
    log: Path,
    on_tick: Callable[[], None],
    on_line: Callable[[str], None] = lambda line: None,
) -> None:
    """As `watched.watch`; there is one tick, at the start."""
    on_tick()
    with log.open("a") as errors, redirect_stdout(_Lines(on_line)), redirect_stderr(errors), _handlers_restored():
        start = errors.tell()
        code = main([*command[command.index("--die-with-parent") + 1 :]])
    if code:
        raise ProcessFailed(code, log, start)


def _run_command(job: ModelJob, *arguments: str | Path) -> None:
    """As `run_command` for a command that succeeds."""
    command = prm_command(*arguments)
    with _handlers_restored():
        assert main(command[command.index("--die-with-parent") + 1 :]) == 0


@contextmanager
def _handlers_restored() -> Iterator[None]:
    """Restore the signal handlers that training replaces."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
