"""Enqueues tasks after the rows that they read are committed."""

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

SCORE_TASK = "rounds.score_unscored"  # the champions score what has no score yet
log = logging.getLogger(__name__)


def enqueue(task: str, *args: Any, queue: str = "default") -> None:
    """Send the task named `task` to `queue` when the transaction commits, or at once outside of one.

    If the broker is down, no job is lost: every job is a row, and the sweeps of `annotation.schedule` re-enqueue jobs
    that no worker has.
    """
    transaction.on_commit(lambda: _send(task, args, queue))


def _send(task: str, args: tuple[Any, ...], queue: str) -> None:
    try:
        current_app.send_task(task, args=args, queue=queue, retry_policy={"max_retries": 1})
    except (OperationalError, OSError) as error:
        log.warning("The broker does not respond (%s). The sweep will re-enqueue %s%s.", error, task, args)
