"""Waiting in tests for what other processes do: as long as a machine with other work may take, and no longer."""

import inspect
import time
from collections.abc import Callable
from typing import TypeVar

from django.db import connection

PATIENCE = 120  # seconds; it ends a hang and asserts no speed
Found = TypeVar("Found")


def until(true: Callable[[], Found], seconds: float = PATIENCE) -> Found:
    """Wait until `true()` is; returns what it gave. Raises AssertionError with the source of what never was."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, f"{seconds} s have passed, and this is still false:\n{_source(true)}"
        time.sleep(0.05)
    return found


def is_waited_for() -> bool:
    """Whether somebody waits for a lock of this connection; `pg_stat_activity` would not change in a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))")
        return cursor.rowcount > 0


def _source(true: Callable[[], object]) -> str:
    try:
        return inspect.getsource(true).strip()
    except (OSError, TypeError):  # a method of C, a callable object
        return repr(true)
