"""Work one item ahead of whoever takes them, so that reading goes on while the database writes."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar, cast

Item = TypeVar("Item")
_END = object()


def ahead(items: Iterator[Item]) -> Generator[Item]:
    """The items in their order, each made in a thread while the one before is in use; two exist at a time.

    What the iterator raises is raised here. Close the generator to stop early: it waits for the item being made.
    """
    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as pool:
        coming = pool.submit(next, items, _END)
        while (item := coming.result()) is not _END:
            coming = pool.submit(next, items, _END)
            yield cast(Item, item)
            del item
