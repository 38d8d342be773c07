"""One worker a project, one training a device: PostgreSQL advisory locks, each on a connection of its own.

The lock belongs to the session, so it is gone the moment its holder dies, and no other process has to
decide whether the holder is dead or only slow.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

import psycopg
from django.db import OperationalError, connections

# First keys of the locks, in ASCII; the second is the project, or the device.
ROUNDS = 0x726F756E  # "roun"
DEVICES = 0x67707573  # "gpus"


class LockLost(OperationalError):
    """The connection that held the lock is gone: another worker may be at the same stage."""


class Lock:
    """What the holder has in hand."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def check(self) -> None:
        """Raise LockLost unless the lock is still held."""
        try:
            self._connection.execute("SELECT 1")
        except psycopg.Error as error:
            raise LockLost(str(error)) from error


def project_lock(project_id: int) -> AbstractContextManager[Lock | None]:
    """Hold the project's lock, or yield None at once where another session holds it."""
    return advisory_lock(ROUNDS, project_id)


@contextmanager
def advisory_lock(first: int, second: int) -> Iterator[Lock | None]:
    """Hold the lock of these keys (signed, 32 bits), or yield None at once where another session holds it."""
    parameters = connections["default"].get_connection_params()
    with psycopg.connect(**{**parameters, "autocommit": True}) as connection:
        key = (first, second)
        row = connection.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", key).fetchone()
        if not (row and row[0]):
            yield None
            return
        try:
            yield Lock(connection)
        finally:
            # The server takes a moment to notice a closed connection, and the next stage may come before that.
            with suppress(psycopg.Error):
                connection.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", key)
