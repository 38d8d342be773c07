"""Runs a command of the library for a model job, in a subprocess that dies with its worker."""

import subprocess
from pathlib import Path

from django.conf import settings

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.lifecycle import BEAT_SECONDS, beat
from annotation.loop.processes.devices import give_way
from annotation.loop.processes.watched import ProcessFailed, last_line, prm_command
from annotation.models import ModelJob
from prm.messages import Message


def run_command(job: ModelJob, *arguments: str | Path) -> None:
    """Run `python -m prm` for a job.

    Raises DomainError (`library_refused`) with the library's own reason, ProcessFailed if a signal ended it, Cancelled,
    and Postponed if a round waits for the worker.
    """
    log = storage.path_of(f"runs/model-job-{job.pk}.log")
    log.parent.mkdir(parents=True, exist_ok=True)
    command = prm_command(*arguments)
    with open(log, "ab") as out:
        start = out.tell()  # an earlier attempt may have written to it
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, cwd=settings.BASE_DIR)
        try:
            while process.poll() is None:
                _beat(job, log, start)
                give_way()
                try:
                    process.wait(BEAT_SECONDS)
                except subprocess.TimeoutExpired:
                    continue
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
    _beat(job, log, start)
    if process.returncode < 0:
        raise ProcessFailed(process.returncode, log, start)
    if process.returncode:
        raise DomainError(Message("library_refused", reason=job.message or Message("no_reason_from_library"), log=log))
    beat(job, message="")  # the last line is about a command that has ended


def _beat(job: ModelJob, log: Path, start: int) -> None:
    """Write a heartbeat with the last line of the log after byte `start`."""
    job.message = last_line(log, start)
    beat(job, message=job.message)
