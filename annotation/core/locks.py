"""Advisory locks of a database session.

The server frees them when the session ends, so a dead worker holds none, and no other process has to decide whether a
holder is dead or only slow.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import DEFAULT_DB_ALIAS, connection

_held = threading.local()


@contextmanager
def advisory_lock(name: str, number: int = 0) -> Iterator[bool]:
    """Hold the lock for the block; yields False at once if this session or another one already holds it.

    Raises RuntimeError on a replica, and outside a transaction behind PGBOUNCER_URL, which would give the session to
    others.
    """
    if connection.alias != DEFAULT_DB_ALIAS:
        raise RuntimeError(f"The lock {name!r} would be that of a replica, which excludes nobody.")
    if connection.settings_dict["TRANSACTION_POOLING"] and not connection.in_atomic_block:
        raise RuntimeError(f"The lock {name!r} needs a session of its own, which PGBOUNCER_URL does not give.")
    key = (name, number)
    held: set[tuple[str, int]] = _held.__dict__.setdefault("keys", set())
    if key in held:  # PostgreSQL would grant its own session the same lock twice
        yield False
        return
    if not _ask("pg_try_advisory_lock", key):
        yield False
        return
    held.add(key)
    try:
        yield True
    finally:
        held.discard(key)
        if connection.is_usable():
            _ask("pg_advisory_unlock", key)
        else:  # a failed transaction refuses the statement, and the end of the session frees the lock too
            connection.close()


def _ask(function: str, key: tuple[str, int]) -> bool:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {function}(hashtext(%s), %s)", key)
        return bool(cursor.fetchone()[0])
