"""Collects garbage seldom in work that makes many objects without cycles."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def collecting_seldom(*, every: int) -> Iterator[Callable[[], None]]:
    """Collect garbage at one in `every` calls of the yielded function, and only among newer objects.

    Otherwise a third of the time of an import or a snapshot is spent looking for cycles.
    """
    done = 0

    def collect() -> None:
        nonlocal done
        done += 1
        if done % every == 0:
            gc.collect()

    gc.freeze()
    gc.disable()
    try:
        yield collect
    finally:
        gc.enable()
        gc.unfreeze()
