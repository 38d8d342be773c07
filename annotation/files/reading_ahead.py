"""Reads ahead in a thread, which computes only while the thread that stores waits for the database.

If both computed at once, Python would let each run half of the time, and the database would have nothing to do.
"""

import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event
from typing import TypeVar, cast

# When the database has answered, the thread that reads lets the other continue after this time. Python's is 5 ms.
SWITCH_SECONDS = 0.0001
USUAL_SWITCH_SECONDS = sys.getswitchinterval()

Item = TypeVar("Item")
_END = object()
# Set while the thread that reads may compute. Both threads of `read_ahead` have the same event.
_TURN: ContextVar[Event | None] = ContextVar("turn", default=None)


def read_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items in order; a thread reads the next one while one is in use, so two exist at a time.

    The iterator calls `wait_for_turn` before each piece of work. The code that stores an item calls `while_waiting`
    where it waits. Raises the iterator's exceptions. Close the generator to stop early: it waits for the item that is
    being read.
    """
    turn = Event()
    thread = ThreadPoolExecutor(1, "ahead", initializer=_TURN.set, initargs=(turn,))
    with _switching_often(), thread as pool, _giving(turn):
        following = pool.submit(next, items, _END)
        while (item := following.result()) is not _END:
            turn.clear()
            following = pool.submit(next, items, _END)
            yield cast(Item, item)
            del item
            turn.set()


@contextmanager
def while_waiting() -> Iterator[None]:
    """Let the thread that reads ahead for this one compute, if there is one."""
    turn = _TURN.get()
    if turn is None:
        yield
        return
    turn.set()
    try:
        yield
    finally:
        turn.clear()


def wait_for_turn() -> None:
    """Wait until the thread that stores waits. In a thread that does not read ahead, continue."""
    if turn := _TURN.get():
        turn.wait()


@contextmanager
def _giving(turn: Event) -> Iterator[None]:
    """Let this thread give turns. The reader has one at the start, and keeps the last one, so that it can end."""
    _TURN.set(turn)
    turn.set()
    try:
        yield
    finally:
        turn.set()
        _TURN.set(None)


@contextmanager
def _switching_often() -> Iterator[None]:
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        # Not the interval found on entry: threads of a web process can import at once, and end in any order.
        sys.setswitchinterval(USUAL_SWITCH_SECONDS)
