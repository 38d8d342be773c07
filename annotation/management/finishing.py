"""A job that a command asks for, to its end."""

import time
from collections.abc import Callable

from annotation.models import Job

LOOK_AGAIN_SECONDS = 0.5


def finish_job(job: Job, work: Callable[[], object]) -> None:
    """Does the job by `work`, or waits for the worker of the platform that is at it; the row is then as it ended."""
    work()
    job.refresh_from_db()
    while job.live:
        time.sleep(LOOK_AGAIN_SECONDS)
        work()
        job.refresh_from_db()
