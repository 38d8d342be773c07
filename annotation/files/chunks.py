"""A file's records in chunks that are stored as one, and one item read ahead while the database writes the last."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TypeVar, cast

from annotation.files.answer_grading import grade_records
from annotation.files.opening import Content
from annotation.files.preparing import prepared
from annotation.models import ImportOptions
from prm.formats.reading import Numbered
from prm.formats.record import Record, Rejection
from prm.splitting import Splitting

CHUNK_RECORDS = 1000
CHUNK_BYTES = 8 * 1024 * 1024  # of what the file holds, unpacked


@dataclass
class Chunk:
    """Records that are stored together. Both lists hold each record's 0-based number in its file."""

    taken: list[tuple[int, int, Record]] = field(default_factory=list)  # number, line
    rejected: list[tuple[int, Rejection]] = field(default_factory=list)
    size: int = 0  # records, of either kind
    done_bytes: int = 0  # how far the file had been read behind it


def chunks(
    items: Iterator[Numbered], content: Content, *, first: int, splitting: Splitting, options: ImportOptions
) -> Iterator[Chunk]:
    """What a reader yields from record `first` on, ready to be stored; the last chunk may be empty."""
    chunk, begun_at = Chunk(), content.given_bytes
    for number, (line, read) in enumerate(items, start=first):
        item = prepared(line, read, splitting, options)
        if isinstance(item, Rejection):
            chunk.rejected.append((number, item))
        else:
            chunk.taken.append((number, line, item))
        chunk.size += 1
        if chunk.size == CHUNK_RECORDS or content.given_bytes - begun_at > CHUNK_BYTES:
            yield _made_ready(chunk, content)
            chunk, begun_at = Chunk(), content.given_bytes
    yield _made_ready(chunk, content)


def _made_ready(chunk: Chunk, content: Content) -> Chunk:
    grade_records([record for _, _, record in chunk.taken])
    chunk.done_bytes = content.done_bytes
    return chunk


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
