"""Divides a file's records into chunks that are stored together, and reads ahead while the database writes."""

import sys
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar, cast

from annotation.files.answer_grading import grade_records
from annotation.files.identity import Identified, identify
from annotation.files.opening import Content
from annotation.files.preparing import prepare_record
from annotation.files.warnings import warnings_of
from annotation.models import ImportOptions
from prm.formats.reading import Numbered
from prm.formats.record import Record, Rejection
from prm.splitting import Splitting

CHUNK_RECORDS = 1000
CHUNK_BYTES = 8 * 1024 * 1024  # of the unpacked content
# A thread that computes lets another continue after this time. With Python's 5 ms, each answer of the database and each
# buffer of a COPY would wait as long for the thread that reads ahead.
SWITCH_SECONDS = 0.0001
USUAL_SWITCH_SECONDS = sys.getswitchinterval()


@dataclass
class Chunk:
    """Records that are stored together. Both lists hold each record's 0-based number in its file.

    `identified` has the accepted records, in their order; `warnings` are counts of theirs.
    """

    accepted: list[tuple[int, int, Record]] = field(default_factory=list)  # number, line
    identified: list[Identified] = field(default_factory=list)
    rejected: list[tuple[int, Rejection]] = field(default_factory=list)
    warnings: dict[str, int] = field(default_factory=dict)
    size: int = 0  # number of records in both lists
    done_bytes: int = 0  # how much of the file was read after the chunk


def chunks(
    items: Iterator[Numbered], content: Content, *, first: int, splitting: Splitting, options: ImportOptions
) -> Iterator[Chunk]:
    """Yield the items of a reader from record `first` on in chunks, ready to store; the last chunk may be empty."""
    chunk, begun_at = Chunk(), content.unpacked_bytes
    for number, (line, read) in enumerate(items, start=first):
        item = prepare_record(line, read, splitting, options)
        if isinstance(item, Rejection):
            chunk.rejected.append((number, item))
        else:
            chunk.accepted.append((number, line, item))
        chunk.size += 1
        if chunk.size == CHUNK_RECORDS or content.unpacked_bytes - begun_at > CHUNK_BYTES:
            yield _finish(chunk, content)
            chunk, begun_at = Chunk(), content.unpacked_bytes
    yield _finish(chunk, content)


def _finish(chunk: Chunk, content: Content) -> Chunk:
    records = [record for _, _, record in chunk.accepted]
    grade_records(records)
    chunk.identified, chunk.warnings = [identify(record) for record in records], warnings_of(records)
    chunk.done_bytes = content.done_bytes
    return chunk


Item = TypeVar("Item")
_END = object()


def read_ahead(items: Iterator[Item]) -> Generator[Item]:
    """Yield the items in order; a thread reads the next one while one is in use, so two exist at a time.

    Raises the iterator's exceptions. Close the generator to stop early: it waits for the item that is being read.
    """
    with _switching_often(), ThreadPoolExecutor(max_workers=1, thread_name_prefix="ahead") as pool:
        following = pool.submit(next, items, _END)
        while (item := following.result()) is not _END:
            following = pool.submit(next, items, _END)
            yield cast(Item, item)
            del item


@contextmanager
def _switching_often() -> Iterator[None]:
    sys.setswitchinterval(SWITCH_SECONDS)
    try:
        yield
    finally:
        # Not the interval found on entry: threads of a web process can import at once, and end in any order.
        sys.setswitchinterval(USUAL_SWITCH_SECONDS)
