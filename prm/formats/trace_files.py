"""Files of labelled solutions as the library reads them: in any registered format, or in its own."""

import gzip
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import BinaryIO, TypeVar, cast

import msgspec

from prm.errors import DataError, FormatError
from prm.faults import UNDECODABLE, sentence_of
from prm.formats import samples
from prm.formats.detection import detect, format_with
from prm.formats.raw import CHUNK, raw_records
from prm.formats.record import Record, Rejection
from prm.formats.registry import FORMATS, Format, Judged
from prm.messages import Message
from prm.scores import TraceScore
from prm.traces import Trace

GZIP = b"\x1f\x8b"
OWN = frozenset({"id", "problem", "steps"})

Kind = TypeVar("Kind")
Named = Iterator[tuple[str, Trace]]
Published = Iterable[tuple[str, TraceScore]]


@dataclass(frozen=True)
class TraceFile:
    """A file, the format that it is in, and its traces with their places ("FILE, line 3")."""

    path: Path
    label: str
    judged: Judged
    read: Callable[[], Named]
    published: Callable[[], Published] | None = None


def read_traces(path: Path | str) -> Iterator[Trace]:
    """Stream the traces of a file in any format; raises DataError naming file, line and field."""
    return (trace for _, trace in open_traces(Path(path)).read())


def open_traces(path: Path) -> TraceFile:
    """The file with the format that its content is in; raises DataError for none, or where it cannot be read."""
    fields, fault = _first_fields(path)
    if fields is None:
        return TraceFile(path, "traces", "steps", lambda: iter(()))
    if fields >= samples.MARKS:
        responses = partial(_decoded, path, samples.Samples)
        return TraceFile(
            path,
            samples.LABEL,
            "best of n",
            lambda: ((place, trace) for place, line in responses() for trace in samples.traces_of(line)),
            lambda: (score for _, line in responses() for score in samples.scores_of(line)),
        )
    if fields >= OWN and not format_with(fields):
        return TraceFile(path, "traces", "steps", partial(_decoded, path, Trace))
    try:
        with open_file(path) as stream:
            form = FORMATS.get(detect(stream, str(path)))
    except FormatError:
        if fault:
            raise DataError(fault) from None
        raise
    published = partial(_published, path, form) if form.published else None
    return TraceFile(path, form.label, form.judged, partial(_read, path, form), published)


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """The content of a file, unpacked if it is gzipped. Raises DataError where it cannot be read."""
    try:
        with open(path, "rb") as packed:
            zipped = packed.read(2) == GZIP
        with gzip.open(path) if zipped else open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    except (OSError, EOFError) as error:
        raise DataError(Message("path_error", path=path, error=getattr(error, "strerror", None) or error)) from error


def first_fields(path: Path) -> set[str]:
    """The names of the first record's fields; raises DataError where there is no record."""
    fields, fault = _first_fields(path)
    if fields is None or fault:
        raise DataError(fault or Message("file_without_records", path=path))
    return fields


def _first_fields(path: Path) -> tuple[set[str] | None, str]:
    """The names of the first record's fields, None without a record; and what is wrong with it as JSON."""
    for place, raw in _raw(path):
        try:
            return set(msgspec.json.decode(raw, type=dict[str, msgspec.Raw])), ""
        except UNDECODABLE as error:
            return set(), Message("place_error", where=place, error=sentence_of(error, raw))
    return None, ""


def _raw(path: Path) -> Iterator[tuple[str, bytes]]:
    with open_file(path) as stream:
        for line, raw in raw_records(stream, stream.read(CHUNK)):
            if isinstance(raw, Rejection):
                raise _refusal(path, raw)
            yield f"{path}, line {line}", raw


def _decoded(path: Path, kind: type[Kind]) -> Iterator[tuple[str, Kind]]:
    decoder = msgspec.json.Decoder(kind)
    for place, raw in _raw(path):
        try:
            yield place, decoder.decode(raw)
        except UNDECODABLE as error:
            raise DataError(Message("place_error", where=place, error=sentence_of(error, raw))) from error


def _records(path: Path, form: Format) -> Iterator[tuple[int, Record]]:
    with open_file(path) as stream:
        for line, item in form.read(stream):
            if isinstance(item, Rejection):
                raise _refusal(path, item)
            yield line, item


def _read(path: Path, form: Format) -> Named:
    for line, record in _records(path, form):
        place = f"{path}, line {line}"
        try:
            yield from ((place, trace) for trace in form.traces(record, f"{path.stem}-{line}"))
        except UNDECODABLE as error:
            raise DataError(Message("place_error", where=place, error=sentence_of(error))) from error


def _published(path: Path, form: Format) -> Iterator[tuple[str, TraceScore]]:
    for line, record in _records(path, form):
        try:
            yield from form.published(record) if form.published else ()
        except UNDECODABLE as error:
            place = f"{path}, line {line}"
            raise DataError(Message("place_error", where=place, error=sentence_of(error))) from error


def _refusal(path: Path, rejection: Rejection) -> DataError:
    place = f"{path}, line {rejection.line}"
    if rejection.field:
        place = Message("place_with_field", where=place, field=rejection.field)
    return DataError(Message("place_error", where=place, error=rejection.reason))
