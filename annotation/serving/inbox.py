"""Delivers the workers' answers to the threads of this process.

One thread reads the process's own list in Redis for all of them. A thread that waits costs no connection and no round
trip, and a worker sends the answers of a batch to each web process in one message.
"""

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any

import msgspec
import redis

READ_SECONDS = 2  # of one blocking read; well below the timeout of the socket
RETRY_SECONDS = 0.2  # after an error of Redis

Place = SimpleQueue[msgspec.Raw | redis.RedisError]  # where one thread waits
_decode = msgspec.msgpack.Decoder(list[tuple[str, msgspec.Raw]]).decode  # answers with the ids of their questions


class Inbox:
    """The waiting threads of a process by the id of their question; `key` is its list in Redis."""

    def __init__(self, client: Any) -> None:
        self.key = f"serving:answers:{uuid.uuid4()}"
        self._client = client
        self._waiting: dict[str, Place] = {}
        threading.Thread(target=self._read, name="serving-inbox", daemon=True).start()

    @contextmanager
    def expect(self, question: str) -> Iterator[Place]:
        """The place of the answer to a question that is sent within the block."""
        place: Place = SimpleQueue()
        self._waiting[question] = place
        try:
            yield place
        finally:
            del self._waiting[question]

    def _read(self) -> None:
        while True:
            try:
                popped = self._client.blpop([self.key], timeout=READ_SECONDS)
            except redis.RedisError as error:
                for place in list(self._waiting.values()):
                    place.put(error)
                time.sleep(RETRY_SECONDS)
                continue
            for question, answer in _decode(popped[1]) if popped else ():
                expecting = self._waiting.get(question)  # None if its thread no longer waits
                if expecting is not None:
                    expecting.put(answer)


def receive(place: Place, seconds: float) -> msgspec.Raw | None:
    """The answer, or None if none arrives in time. Raises RedisError if Redis fails in the meantime."""
    try:
        received = place.get(timeout=seconds)
    except Empty:
        return None
    if isinstance(received, redis.RedisError):
        raise received
    return received
