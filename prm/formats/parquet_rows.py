"""Rows of a Parquet file as JSON records, a few at a time, so that memory does not grow with the file.

Its functions import pyarrow, so that processes without such a file save 40 MB.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from prm.formats.record import Rejection
from prm.messages import Message

if TYPE_CHECKING:
    import pyarrow
    from pyarrow import parquet

MAGIC = b"PAR1"
ROWS_AT_ONCE = 64
BUFFER = 1024 * 1024
WRITTEN_AT_ONCE = 1000


def raw_rows(stream: BinaryIO, *, head: bytes, longest: int, skip: int = 0) -> Iterator[tuple[int, bytes | Rejection]]:
    """Yield (row number, its JSON) after skipping `skip` rows, whole row groups without reading them.

    `head` was already read from the stream. A Parquet file has its index at the end, so a stream that cannot seek is
    first copied to a temporary file. Raises OSError for a broken file.
    """
    import pyarrow
    from pyarrow import parquet

    with _seekable(stream, head) as file:
        try:
            yield from _rows(parquet.ParquetFile(file, buffer_size=BUFFER, pre_buffer=False), longest, skip)
        except pyarrow.ArrowException as error:
            raise OSError(f"it is not a complete Parquet file ({error})") from error


def _rows(file: "parquet.ParquetFile", longest: int, skip: int) -> Iterator[tuple[int, bytes | Rejection]]:
    number = 0
    for group in range(file.num_row_groups):
        rows = file.metadata.row_group(group).num_rows
        if number + rows <= skip:
            number += rows
            continue
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, row_groups=[group], use_threads=False):
            passed = min(batch.num_rows, max(0, skip - number))
            number += passed
            for row in _values(batch.slice(passed)):
                number += 1
                yield number, _encoded(number, row, longest)


def _values(batch: "pyarrow.RecordBatch") -> list[dict[str, Any] | Exception]:
    """Each row, or the error of a row with a text that is not UTF-8 or a date out of range."""
    try:
        return list(batch.to_pylist(maps_as_pydicts="lossy"))
    except (ValueError, OverflowError) as error:
        if batch.num_rows == 1:
            return [error]
        return [row for number in range(batch.num_rows) for row in _values(batch.slice(number, 1))]


def _encoded(number: int, row: dict[str, Any] | Exception, longest: int) -> bytes | Rejection:
    try:
        if isinstance(row, Exception):
            raise row
        raw = msgspec.json.encode(row)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        return Rejection(line=number, reason=Message("parquet_cell_unreadable", error=error))
    if len(raw) > longest:
        return Rejection(line=number, reason=Message("row_too_long", n=longest // 1024 // 1024))
    return raw


def write_rows(rows: Iterable[Mapping[str, Any]], schema: "pyarrow.Schema") -> Iterator[bytes]:
    """The bytes of a Parquet file of the rows, in row groups of WRITTEN_AT_ONCE."""
    import pyarrow
    from pyarrow import parquet

    sink = Sink()
    with parquet.ParquetWriter(pyarrow.PythonFile(sink, mode="w"), schema, compression="zstd") as writer:
        source = iter(rows)
        while group := list(islice(source, WRITTEN_AT_ONCE)):
            writer.write_table(pyarrow.Table.from_pylist(group, schema=schema))
            yield sink.take()
    yield sink.take()


class Sink:
    """A file to write to, whose content `take` removes piece by piece."""

    closed = False

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._at = 0

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self._at += len(self._pieces[-1])
        return len(self._pieces[-1])

    def tell(self) -> int:
        return self._at

    def flush(self) -> None:
        """Do nothing: nothing is buffered."""

    def close(self) -> None:
        """Do nothing: `take` still returns the rest."""

    def take(self) -> bytes:
        piece = b"".join(self._pieces)
        self._pieces.clear()
        return piece


@contextmanager
def _seekable(stream: BinaryIO, head: bytes) -> Iterator[BinaryIO]:
    if stream.seekable():
        stream.seek(0)
        yield stream
        return
    with tempfile.TemporaryFile() as copy:
        copy.write(head)
        shutil.copyfileobj(stream, copy)
        copy.seek(0)
        yield copy
