"""One worker a project: a PostgreSQL advisory lock on a connection of its own.

The lock belongs to the session, so it is gone the moment its holder dies, and no other process has to
decide whether the holder is dead or only slow.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psycopg
from django.db import connections

ROUNDS = 0x726F756E  # first key of the lock, "roun" in ASCII; the second is the project


class LockLost(Exception):
    """The connection that held the lock is gone: another worker may be at the same stage."""


class ProjectLock:
    """What the holder has in hand."""

    def __init__(self, connection: psycopg.Connection) -> None:
        self._connection = connection

    def check(self) -> None:
        """Raise LockLost unless the lock is still held."""
        try:
            self._connection.execute("SELECT 1")
        except psycopg.Error as error:
            raise LockLost(str(error)) from error


@contextmanager
def project_lock(project_id: int) -> Iterator[ProjectLock | None]:
    """Hold the project's lock, or yield None at once where another session holds it."""
    parameters = connections["default"].get_connection_params()
    with psycopg.connect(**{**parameters, "autocommit": True}) as connection:
        key = (ROUNDS, project_id)
        row = connection.execute("SELECT pg_try_advisory_lock(%s::int, %s::int)", key).fetchone()
        if not (row and row[0]):
            yield None
            return
        try:
            yield ProjectLock(connection)
        finally:
            # The server takes a moment to notice a closed connection, and the next stage may come before that.
            with suppress(psycopg.Error):
                connection.execute("SELECT pg_advisory_unlock(%s::int, %s::int)", key)
