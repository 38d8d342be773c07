"""Reads from a replica of the database (DATABASE_REPLICA_URL), if there is one and it is up to date.

During `read_current` and `read_recent` the default connection of the thread is that of the replica, for models and for
SQL alike. A replica rejects writes and row locks. Work that needs them fails there, and runs again on the primary.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

import structlog
from django.db import DEFAULT_DB_ALIAS, Error, connection, connections

T = TypeVar("T")
ALIAS = "replica"
JOB_WAIT = 10.0  # seconds in which the replica must catch up for a job
PAGE_WAIT = 0.2  # and for a page
RECENT_SECONDS = 1.0  # for which pages rely on that answer: the most that a page can be out of date
DOWN_SECONDS = 10.0  # after an error, before another page asks the replica
POLL_SECONDS = 0.01
BATCH = 500  # items of a stream that are made together

log = structlog.get_logger(__name__)


def is_configured() -> bool:
    """Whether the settings name a replica."""
    return ALIAS in connections.settings


def read_current(work: Callable[[], T]) -> T:
    """The result of `work`, which sees everything that was durable before the call.

    `work` only reads. If the replica fails, it runs a second time, on the primary. It runs there at once if the replica
    does not catch up within JOB_WAIT, or in a transaction, whose writes the replica lacks.
    """
    return _read(work, _is_current)


def read_recent(work: Callable[[], T]) -> T:
    """As `read_current`, but `work` may not see what was written in the last RECENT_SECONDS."""
    return _read(work, _recency.is_up_to_date)


def stream_from_here(items: Generator[T]) -> Iterator[T]:
    """The items, all read from where `work` reads now, although the response reads most of them later.

    On a replica, the first BATCH of them are made at once, so that `work` can still run again on the primary.
    """
    return _stream(list(islice(items, BATCH)), items) if connection.alias == ALIAS else items


def describe_lag() -> str:
    """The state of the replica: "ok" if it has everything, else how far behind it is or what is wrong."""
    try:
        with connections[ALIAS].cursor() as cursor:
            cursor.execute(
                "SELECT pg_is_in_recovery(), pg_last_wal_replay_lsn() >= %s::pg_lsn,"
                " extract(epoch FROM now() - pg_last_xact_replay_timestamp())",
                [_durable()],
            )
            replicates, has_everything, seconds = cursor.fetchone()
    except Error:
        connections[ALIAS].close()
        return "does not answer"
    if not replicates:
        return "is not a replica"
    if has_everything:
        return "ok"
    return "is behind" if seconds is None else f"is {seconds:.1f} s behind"


def _read(work: Callable[[], T], may_read: Callable[[], bool]) -> T:
    if not is_configured() or connection.alias == ALIAS or connection.in_atomic_block or not may_read():
        return work()
    try:
        with _in_place_of_primary():
            return work()
    except Error as error:
        log.warning("replica_failed", error=str(error))
    connections[ALIAS].close()
    _recency.forget()
    return work()


@contextmanager
def _in_place_of_primary() -> Iterator[None]:
    primary = connections[DEFAULT_DB_ALIAS]
    connections[DEFAULT_DB_ALIAS] = connections[ALIAS]
    try:
        yield
    finally:
        connections[DEFAULT_DB_ALIAS] = primary


def _stream(batch: list[T], items: Generator[T]) -> Iterator[T]:
    try:
        while batch:
            yield from batch
            with _in_place_of_primary():
                batch = list(islice(items, BATCH))
    finally:
        with _in_place_of_primary():  # where its transaction ends
            items.close()


def _durable() -> str:
    """The position in the primary's log up to which commits are on its disk."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_flush_lsn()")
        [position] = cursor.fetchone()
    return str(position)


def _catch_up(seconds: float) -> bool:
    """Whether the replica has replayed, within so many seconds, what is durable now. Raises Error."""
    position, deadline = _durable(), time.monotonic() + seconds
    with connections[ALIAS].cursor() as cursor:
        while True:
            cursor.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
            if cursor.fetchone() == (True,):
                return True
            if time.monotonic() > deadline:
                return False
            time.sleep(POLL_SECONDS)


def _is_current() -> bool:
    try:
        current, reason = _catch_up(JOB_WAIT), f"more than {JOB_WAIT:.0f} s behind"
    except Error as error:
        connections[ALIAS].close()
        current, reason = False, str(error)
    if not current:
        log.warning("replica_not_used", reason=reason)
    return current


class _Recency:
    """Whether the replica has caught up in the last RECENT_SECONDS. One thread of the process at a time asks it."""

    def __init__(self) -> None:
        self._asking = threading.Lock()
        self._known_until = 0.0
        self._caught_up = False

    def is_up_to_date(self) -> bool:
        if time.monotonic() >= self._known_until and self._asking.acquire(blocking=False):
            try:
                self._ask()
            finally:
                self._asking.release()
        return self._caught_up and time.monotonic() < self._known_until

    def forget(self) -> None:
        """Let the next page ask again."""
        self._known_until = 0.0

    def _ask(self) -> None:
        began = time.monotonic()
        try:
            caught_up, reason, lasts = _catch_up(PAGE_WAIT), "behind", RECENT_SECONDS
        except Error as error:
            connections[ALIAS].close()
            caught_up, reason, lasts = False, str(error), DOWN_SECONDS
        if self._caught_up and not caught_up:
            log.warning("replica_not_used", reason=reason)
        self._caught_up, self._known_until = caught_up, began + lasts


_recency = _Recency()
