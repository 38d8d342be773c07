"""Runs a command's job to its end."""

import time
from collections.abc import Callable

from annotation.models import Job

LOOK_AGAIN_SECONDS = 0.5


def finish_job(job: Job, work: Callable[[], object]) -> None:
    """Run the job by `work`, or wait for the worker that has it, and then refresh the row."""
    work()
    job.refresh_from_db()
    while job.live:
        time.sleep(LOOK_AGAIN_SECONDS)
        work()
        job.refresh_from_db()
