"""JSON Lines (UTF-8) of one type of record: read as a stream, written whole or not at all."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from prm.errors import DataError
from prm.faults import sentence_of
from prm.said import said

T = TypeVar("T")


def read_records(path: Path, kind: type[T]) -> Iterator[T]:
    """Stream the records of a file, blank lines left out; raises DataError naming file, line and field."""
    decoder = msgspec.json.Decoder(kind)
    with open(path, "rb") as lines:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield decoder.decode(line)
            except msgspec.DecodeError as error:
                raise DataError(
                    said("{path}, line {number}: {error}", path=path, number=number, error=sentence_of(error))
                ) from error


def write_records(path: Path, records: Iterable[object]) -> int:
    """Write one line a record, atomically replacing `path`; returns how many were written."""
    encoder = msgspec.json.Encoder()
    partial = path.with_name(path.name + ".partial")
    count = 0
    with open(partial, "wb") as out:
        for record in records:
            out.write(encoder.encode(record) + b"\n")
            count += 1
    partial.replace(path)
    return count
