"""Which stages wait in a queue already: a mark in Redis, beside the queue itself, so that both are lost together.

A mark is set before its message is sent and taken by the worker that takes the message. It runs out after a while, for
a message may also be lost with a worker that had fetched it.
"""

import logging

from django.core.cache import cache
from django.db import transaction
from redis import RedisError

from annotation.models import RunStage

log = logging.getLogger(__name__)

# A worker of `gpu` fetches nothing ahead, and a message may wait there for hours behind other projects' training.
SECONDS = {"gpu": 3600}
OTHER_SECONDS = 120


def mark(stage: RunStage, queue: str) -> None:
    """Once the transaction commits; call it before what sends the message."""
    transaction.on_commit(lambda: _set(_key(stage.run_id, stage.name), SECONDS.get(queue, OTHER_SECONDS)))


def waits(stage: RunStage) -> bool:
    """Whether a message for the stage is on its way; not known to be, where Redis does not answer."""
    try:
        return bool(cache.get(_key(stage.run_id, stage.name)))
    except RedisError:
        return False


def take(run_id: int, stage: str) -> None:
    """The message has come."""
    try:
        cache.delete(_key(run_id, stage))
    except RedisError as error:
        log.warning("Redis does not answer (%s): stage %s of run %s stays marked for a while.", error, stage, run_id)


def _set(key: str, seconds: int) -> None:
    try:
        cache.set(key, True, seconds)
    except RedisError as error:
        log.warning("Redis does not answer (%s); the sweep will ask again.", error)


def _key(run_id: int, stage: str) -> str:
    return f"rounds:{run_id}:{stage}"
