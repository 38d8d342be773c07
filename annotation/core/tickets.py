"""Marks jobs that have a message in a queue. The marks are in Redis, like the queue, so that both are lost together.

A mark is set before its message is sent, and deleted by the worker that receives the message. It expires, because a
message can also be lost with a worker that had fetched it.
"""

import logging

from django.core.cache import cache
from django.db import transaction
from redis import RedisError

from annotation.models import Job

log = logging.getLogger(__name__)

# Workers of `gpu` prefetch nothing, so a message can wait there for hours behind the training of other projects.
SECONDS = {"gpu": 3600}
OTHER_SECONDS = 120


def mark(job: Job, part: str) -> None:
    """Set the mark when the transaction commits; call it before the message is sent."""
    transaction.on_commit(lambda: _set(_key(type(job), job.pk, part), SECONDS.get(job.queue, OTHER_SECONDS)))


def waits(job: Job, part: str) -> bool:
    """Whether a message for this part of the job is in a queue; False if Redis does not respond."""
    try:
        return bool(cache.get(_key(type(job), job.pk, part)))
    except RedisError:
        return False


def take(model: type[Job], pk: int, part: str) -> None:
    """Delete the mark: the message has arrived."""
    try:
        cache.delete(_key(model, pk, part))
    except RedisError as error:
        log.warning("Redis does not respond (%s). The mark of %s %s stays until it expires.", error, model.__name__, pk)


def _set(key: str, seconds: int) -> None:
    try:
        cache.set(key, True, seconds)
    except RedisError as error:
        log.warning("Redis does not respond (%s). The sweep may enqueue the job twice.", error)


def _key(model: type[Job], pk: int, part: str) -> str:
    return f"jobs:{model.__name__}:{pk}:{part}"
