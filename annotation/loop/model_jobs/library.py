"""The library's commands as watched subprocesses, which die with their worker."""

import subprocess
from pathlib import Path

from django.conf import settings

from annotation.core.errors import DomainError
from annotation.core.lifecycle import BEAT_SECONDS, beat
from annotation.loop.processes.devices import give_way
from annotation.loop.processes.watched import last_line, prm_command
from annotation.models import ModelJob
from prm.messages import Message

EXPLAINED = 16_000  # characters of a log's end that are looked at


def run_command(job: ModelJob, *arguments: str | Path) -> None:
    """Run `python -m prm` for a job.

    Raises DomainError (`library_refused`) with the library's own reason, Cancelled, and Postponed where a round waits
    for the worker.
    """
    log = settings.RUN_ROOT / f"model-job-{job.pk}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    command = prm_command(*arguments)
    with open(log, "ab") as out:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=settings.BASE_DIR)
        try:
            while process.poll() is None:
                _beat(job, log)
                give_way()
                try:
                    process.wait(BEAT_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    _beat(job, log)
    if process.returncode:
        raise DomainError(Message("library_refused", reason=job.message or Message("no_reason_from_library"), log=log))
    beat(job, message="")  # the last line is about a command that has ended


def _beat(job: ModelJob, log: Path) -> None:
    """Report that the job is alive, with the last line of its log."""
    job.message = last_line(log.read_text(errors="replace")[-EXPLAINED:])
    beat(job, message=job.message)
