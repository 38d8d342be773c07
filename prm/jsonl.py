"""JSON Lines (UTF-8) of one type of record: read as a stream, written whole or not at all."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, TypeVar

import msgspec

from prm.errors import DataError
from prm.faults import UNDECODABLE, sentence_of
from prm.files import replacing
from prm.messages import Message

T = TypeVar("T")


def read_records(path: Path | str, kind: type[T]) -> Iterator[T]:
    """Stream the records of a file, blank lines left out; raises DataError naming file, line and field."""
    decoder = msgspec.json.Decoder(kind)
    with _opened(path) as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except UNDECODABLE as error:
                raise DataError(
                    Message("line_error", path=path, number=number, error=sentence_of(error, line))
                ) from error


def write_records(path: Path | str, records: Iterable[object]) -> int:
    """Write one line a record, atomically replacing `path`; returns how many were written."""
    encoder = msgspec.json.Encoder()
    count = 0
    with replacing(Path(path)) as out:
        for record in records:
            out.write(encoder.encode(record) + b"\n")
            count += 1
    return count


def _opened(path: Path | str) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise DataError(Message("path_error", path=path, error=error.strerror or error)) from error
