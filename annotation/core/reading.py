"""Reads rows: one that has to exist, or many without holding them all."""

from collections.abc import Iterator
from typing import Any, TypeVar

from django.db import transaction
from django.db.models import Model, QuerySet

from annotation.core.errors import Missing
from prm.messages import Message

M = TypeVar("M", bound=Model)


def find_row(rows: QuerySet[M], otherwise: Message, *, code: str = "") -> M:
    """The first of the rows. Raises Missing with the message `otherwise` if there is none."""
    row = rows.first()
    if row is None:
        raise Missing(otherwise, code=code)
    return row


def read_rows(rows: QuerySet[Any, Any], *, at_once: int = 2000) -> Iterator[Any]:
    """Yield the rows of a query as of one moment; the server keeps those that were not read yet.

    They are read in a transaction, which lasts until the iterator is exhausted or closed: outside of one the server
    would first copy all of them, and behind a pooler it could not keep them.
    """
    with transaction.atomic():
        yield from rows.iterator(chunk_size=at_once)
