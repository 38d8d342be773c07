"""Waits in tests for other processes, for as long as a busy machine may need."""

import inspect
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

PATIENCE = 120  # seconds; it ends a hang and asserts no speed
Found = TypeVar("Found")


def until(true: Callable[[], Found], seconds: float = PATIENCE) -> Found:
    """Wait until `true()` is true, and return its result. Raises AssertionError with its source after `seconds`."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"{seconds} s have passed, and this is still false:\n{_source(true)}"
        time.sleep(0.05)
    return found


def is_waited_for() -> bool:
    """Whether another connection waits for a lock of this one; `pg_stat_activity` is fixed in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.rowcount > 0


def _source(true: Callable[[], object]) -> str:
    try:
        return inspect.getsource(true).strip()
    except (OSError, TypeError):  # a method of C, a callable object
        return repr(true)
