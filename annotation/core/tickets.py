"""Which jobs wait in a queue already: a mark in Redis, beside the queue itself, so that both are lost together.

A mark is set before its message is sent and taken by the worker that takes the message. It runs out after a while, for
a message may also be lost with a worker that had fetched it.
"""

import logging

from django.core.cache import cache
from django.db import transaction
from redis import RedisError

from annotation.models import Job

log = logging.getLogger(__name__)

# A worker of `gpu` fetches nothing ahead, and a message may wait there for hours behind other projects' training.
SECONDS = {"gpu": 3600}
OTHER_SECONDS = 120


def mark(job: Job, part: str) -> None:
    """Once the transaction commits; call it before what sends the message."""
    transaction.on_commit(lambda: _set(_key(type(job), job.pk, part), SECONDS.get(job.queue, OTHER_SECONDS)))


def waits(job: Job, part: str) -> bool:
    """Whether a message for this part of the job is on its way; not known to be, where Redis does not answer."""
    try:
        return bool(cache.get(_key(type(job), job.pk, part)))
    except RedisError:
        return False


def take(model: type[Job], pk: int, part: str) -> None:
    """The message has come."""
    try:
        cache.delete(_key(model, pk, part))
    except RedisError as error:
        log.warning("Redis does not answer (%s): %s %s stays marked for a while.", error, model.__name__, pk)


def _set(key: str, seconds: int) -> None:
    try:
        cache.set(key, True, seconds)
    except RedisError as error:
        log.warning("Redis does not answer (%s); the sweep will ask again.", error)


def _key(model: type[Job], pk: int, part: str) -> str:
    return f"jobs:{model.__name__}:{pk}:{part}"
