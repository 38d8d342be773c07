"""Reads one item ahead of the consumer, so that reading continues while the database writes."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

Item = TypeVar("Item")
_END = object()


def ahead(items: Iterator[Item]) -> Generator[Item]:
    """The items in order, each read in a thread while the previous one is in use; two exist at a time.

    The iterator's exceptions are raised here. Close the generator to stop early: it waits for the item being read.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, items, _END)
            yield cast(Item, item)
            del item
