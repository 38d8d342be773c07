"""Reads many rows without holding them all."""

from collections.abc import Iterator
from typing import Any

from django.db import transaction
from django.db.models import QuerySet


def read_rows(rows: QuerySet[Any, Any], *, at_once: int = 2000) -> Iterator[Any]:
    """Yield the rows of a query as of one moment; the server keeps those that were not read yet.

    They are read in a transaction, which lasts until the iterator is exhausted or closed: outside of one the server
    would first copy all of them, and behind a pooler it could not keep them.
    """
    with transaction.atomic():
        yield from rows.iterator(chunk_size=at_once)
