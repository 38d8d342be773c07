"""Waiting in tests for what other processes do: as long as a machine with other work may take, and no longer."""

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE = 600  # seconds; it ends a hang and asserts no speed
Found = TypeVar("Found")


def until(true: Callable[[], Found], seconds: float = PATIENCE) -> Found:
    """Wait until `true()` is; returns what it gave."""
    deadline = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)
    return found
