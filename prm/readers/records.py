"""The records of a JSON array or of JSON Lines, gzipped or not, whichever a file turns out to hold."""

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from prm.errors import DataError
from prm.faults import UNDECODABLE, sentence_of
from prm.messages import Message

Record = TypeVar("Record")
GZIP = b"\x1f\x8b"


def read_raw(path: Path) -> Iterator[tuple[str, msgspec.Raw]]:
    """Each record undecoded, with where it stands ("FILE, line 3"); raises DataError for what is not JSON."""
    try:
        with open(path, "rb") as stream:
            zipped = stream.read(2) == GZIP
        with gzip.open(path) if zipped else open(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                if line.lstrip().startswith(b"["):
                    yield from _of_array(path, line + stream.read())
                    return
                if line.strip():
                    yield f"{path}, line {number}", msgspec.Raw(line)
    except (OSError, EOFError) as error:
        raise DataError(Message("path_error", path=path, error=getattr(error, "strerror", None) or error)) from error


def decode(where: str, raw: msgspec.Raw, kind: type[Record]) -> Record:
    """One record as `kind`; raises DataError naming where it stands and the field."""
    try:
        return msgspec.json.decode(raw, type=kind)
    except UNDECODABLE as error:
        fault = sentence_of(error, bytes(memoryview(raw)))
        raise DataError(Message("place_error", where=where, error=fault)) from error


def _of_array(path: Path, content: bytes) -> Iterator[tuple[str, msgspec.Raw]]:
    try:
        records = msgspec.json.decode(content, type=list[msgspec.Raw])
    except UNDECODABLE as error:
        raise DataError(Message("path_error", path=path, error=sentence_of(error))) from error
    for number, record in enumerate(records, start=1):
        yield f"{path}, record {number}", record
