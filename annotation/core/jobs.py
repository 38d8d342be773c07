"""Ask a worker to do something, once the rows it will read are committed."""

import logging
from typing import Any

from celery import current_app
from django.db import transaction
from kombu.exceptions import OperationalError

log = logging.getLogger(__name__)


def enqueue(task: str, *args: Any, queue: str = "default") -> None:
    """Send the task named `task` to `queue` when the transaction commits (at once if there is none).

    A broker that does not answer loses no job: every job is a row, and the sweeps of
    `annotation.schedule` enqueue again what nobody works on.
    """
    transaction.on_commit(lambda: _send(task, args, queue))


def _send(task: str, args: tuple[Any, ...], queue: str) -> None:
    try:
        current_app.send_task(task, args=args, queue=queue, retry_policy={"max_retries": 1})
    except (OperationalError, OSError) as error:
        log.warning("The broker does not answer (%s); the sweep will enqueue %s%s again.", error, task, args)
