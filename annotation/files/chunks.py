"""Divides a file's records into chunks that are stored together."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from annotation.files.answer_grading import grade_records
from annotation.files.identity import Identified, identify
from annotation.files.opening import Content
from annotation.files.preparing import prepare_record
from annotation.files.reading_ahead import wait_for_turn
from annotation.files.warnings import warnings_of
from annotation.models import ImportOptions
from prm.formats.reading import Numbered
from prm.formats.record import Record, Rejection
from prm.splitting import Splitting

CHUNK_RECORDS = 1000
CHUNK_BYTES = 8 * 1024 * 1024  # of the unpacked content


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
        wait_for_turn()
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
    for record in records:
        wait_for_turn()
        chunk.identified.append(identify(record))
    chunk.warnings = warnings_of(records)
    chunk.done_bytes = content.done_bytes
    return chunk
