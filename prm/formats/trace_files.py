"""Reads files of labelled solutions in any registered format, or in the library's own."""

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, BinaryIO, TypeVar, cast

import msgspec

from prm.errors import DataError, FormatError
from prm.faults import UNDECODABLE, sentence_of
from prm.formats import plain
from prm.formats.detection import detect, formats_with
from prm.formats.mapping import Mapping
from prm.formats.raw import CHUNK, Raw, raw_records
from prm.formats.record import Record, Rejection
from prm.formats.record_traces import BLANK_LINES, record_of
from prm.formats.registry import FORMATS, TABLE, Format, Judged
from prm.formats.table import checked, is_csv, raw_rows, reader_of, sample
from prm.messages import Message
from prm.scores import TraceScore
from prm.traces import Step, Trace
from prm.vocabulary import Split

SAMPLES_LABEL = "sampled responses"
SAMPLES_MARKS = frozenset({"question", "pred", "score", "code"})
PUBLISHED_SCORE = "pred_score"


class Samples(msgspec.Struct):
    """One problem with all its sampled responses, a line of the Qwen2.5-Math evaluation's output.

    `code` holds the responses, `pred` their final answers, `score` their correctness, and `pred_score` a published
    outcome score of each response (a list with one number).
    """

    idx: int
    question: str
    code: list[str]
    pred: list[str]
    score: list[bool]
    answer: str | None = None
    pred_score: list[Annotated[list[float], msgspec.Meta(min_length=1)]] = []

    def __post_init__(self) -> None:
        lengths = {name: len(getattr(self, name)) for name in ("code", "pred", "score", "pred_score")}
        same = {lengths["code"], lengths["pred"], lengths["score"]} | (
            {len(self.pred_score)} if self.pred_score else set()
        )
        if len(same) > 1:
            raise ValueError(Message("samples_uneven", **lengths))


def traces_of(record: Samples) -> Iterator[Trace]:
    """The responses, split into steps at blank lines."""
    for index, (text, answer, right) in enumerate(zip(record.code, record.pred, record.score, strict=True)):
        yield Trace(
            id=f"{record.idx}/{index}",
            problem=record.question,
            problem_id=str(record.idx),
            steps=[Step(step) for step in BLANK_LINES.split(text).steps],
            split="holdout",
            reference_answer=record.answer,
            final_answer_correct=right,
            meta={"final_answer": answer},
        )


def scores_of(record: Samples) -> Iterator[tuple[str, TraceScore]]:
    """The published outcome scores; steps have none."""
    for index, ((outcome, *_), text) in enumerate(zip(record.pred_score, record.code, strict=False)):
        none = [None] * len(BLANK_LINES.split(text).steps)
        yield PUBLISHED_SCORE, TraceScore(f"{record.idx}/{index}", [*none], [*none], [*none], None, outcome=outcome)


GZIP = b"\x1f\x8b"
OWN = frozenset({"id", "problem", "steps"})
ONLY_OWN = frozenset(Trace.__struct_fields__) - frozenset(plain.Line.__struct_fields__)

Kind = TypeVar("Kind")
T = TypeVar("T")
Named = Iterator[tuple[str, Trace]]
Published = Iterable[tuple[str, TraceScore]]


@dataclass(frozen=True)
class TraceFile:
    """A file, its format, and its traces with their places ("FILE, line 3").

    `split` is the split of solutions whose records name none: "holdout" for a published benchmark.
    """

    path: Path
    label: str
    judged: Judged
    read: Callable[[], Named]
    published: Callable[[], Published] | None = None
    split: Split = "pool"
    form: Format | None = None

    def records(self) -> Iterator[Record]:
        """The file's records, or for traces of this library, a record of each."""
        if self.form is None:
            return (record_of(trace) for _, trace in self.read())
        return (record for _, record in _unpacked(self.path, self.form, lambda record, line: [record]))


def read_traces(path: Path | str, mapping: Mapping | None = None) -> Iterator[Trace]:
    """Stream the traces of a file in any format; raises DataError naming file, line and field.

    A `mapping` names the columns of a table; without it they are guessed from their names and values.
    """
    return (trace for _, trace in open_traces(Path(path), mapping).read())


def open_traces(path: Path, mapping: Mapping | None = None) -> TraceFile:
    """The file with the format of its content, a table if there is a `mapping`.

    Raises DataError for an unknown format, an unreadable file, or a mapping of columns that are not there.
    """
    if mapping is not None:
        with open_file(path) as stream, _mapped(path):
            head = stream.read(CHUNK)
            # The first rows of JSON may lack the columns of the others; the header of a CSV file has all.
            needed = mapping if is_csv(head) else Mapping(mapping.problem, mapping.steps)
            begun = sample(stream, head, mapping)
            if begun.rows:
                checked(needed, begun)
        return _of_format(path, replace(FORMATS.get(TABLE), read=reader_of(TABLE, mapping)))
    fields, fault = _first_fields(path)
    if fields is None:
        return TraceFile(path, "traces", "steps", lambda: iter(()))
    if fields.keys() >= SAMPLES_MARKS:
        responses = partial(_decoded, path, Samples)
        return TraceFile(
            path,
            SAMPLES_LABEL,
            "best of n",
            lambda: ((place, trace) for place, line in responses() for trace in traces_of(line)),
            lambda: (score for _, line in responses() for score in scores_of(line)),
            split="holdout",
        )
    if _is_trace(fields):
        return TraceFile(path, "traces", "steps", partial(_decoded, path, Trace))
    try:
        with open_file(path) as stream:
            return _of_format(path, FORMATS.get(detect(stream, str(path))))
    except FormatError:
        if fault:
            raise DataError(fault) from None
        raise


def _of_format(path: Path, form: Format) -> TraceFile:
    def published() -> Published:
        assert form.published is not None, "asked of a format that has scores"
        publish = form.published
        return (score for _, score in _unpacked(path, form, lambda record, line: publish(record)))

    return TraceFile(
        path,
        form.label,
        form.judged,
        lambda: _unpacked(path, form, lambda record, line: form.traces(record, f"{path.stem}-{line}")),
        published if form.published else None,
        form.split,
        form,
    )


@contextmanager
def open_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file, decompressed if it is gzipped. Raises DataError if it cannot be read, also while it is read."""
    try:
        with open(path, "rb") as packed:
            zipped = packed.read(2) == GZIP
        with gzip.open(path) if zipped else open(path, "rb") as stream:
            yield cast(BinaryIO, stream)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise DataError(Message("file_damaged", path=path)) from error
    except OSError as error:
        raise DataError(Message("path_error", path=path, error=error.strerror or error)) from error


def first_fields(path: Path) -> set[str]:
    """The names of the first record's fields; raises DataError without a record."""
    fields, fault = _first_fields(path)
    if fields is None or fault:
        raise DataError(fault or Message("file_without_records", path=path))
    return set(fields)


def _first_fields(path: Path) -> tuple[dict[str, msgspec.Raw] | None, str]:
    """The first record's fields, None without a record, and what is wrong with malformed JSON."""
    for place, raw in _raw(path):
        try:
            return msgspec.json.decode(raw, type=dict[str, msgspec.Raw]), ""
        except UNDECODABLE as error:
            begun = raw.strip()
            if begun == b"{" or not (isinstance(error, msgspec.ValidationError) or begun.startswith((b"{", b"["))):
                return {}, ""
            return {}, Message("place_error", where=place, error=sentence_of(error, raw))
    return None, ""


def _is_trace(fields: dict[str, msgspec.Raw]) -> bool:
    """Whether a first record is a trace. If it has only fields that `plain` has too, its steps must be objects."""
    if not fields.keys() >= OWN or formats_with(set(fields)):
        return False
    try:
        msgspec.json.decode(fields["steps"], type=list[dict[str, msgspec.Raw]])
    except msgspec.ValidationError:
        return bool(fields.keys() & ONLY_OWN)
    return True


def _raw(path: Path, split: Callable[[BinaryIO, bytes], Iterable[Raw]] = raw_records) -> Iterator[tuple[str, bytes]]:
    with open_file(path) as stream:
        for line, raw in split(stream, stream.read(CHUNK)):
            if isinstance(raw, Rejection):
                raise _refusal(path, raw)
            yield f"{path}, line {line}", raw


@contextmanager
def _placed(place: str, raw: bytes = b"", kind: type[Any] | None = None) -> Iterator[None]:
    """Convert errors in a record to a DataError that names its place."""
    try:
        yield
    except UNDECODABLE as error:
        raise DataError(Message("place_error", where=place, error=sentence_of(error, raw, kind))) from error


def read_rows(path: Path, kind: type[Kind]) -> Iterator[Kind]:
    """Stream the rows of JSON Lines, a JSON array, CSV or Parquet; raises DataError naming file, line and field."""
    return (row for _, row in _decoded(path, kind, partial(raw_rows, mapping=Mapping(), skip=0)))


def _decoded(
    path: Path, kind: type[Kind], split: Callable[[BinaryIO, bytes], Iterable[Raw]] = raw_records
) -> Iterator[tuple[str, Kind]]:
    decoder = msgspec.json.Decoder(kind)
    for place, raw in _raw(path, split):
        with _placed(place, raw, kind):
            record = decoder.decode(raw)
        yield place, record


def _unpacked(path: Path, form: Format, unpack: Callable[[Record, int], Iterable[T]]) -> Iterator[tuple[str, T]]:
    """The items that `unpack` makes of each record and its line, with the record's place."""
    with open_file(path) as stream, _mapped(path):
        for line, item in form.read(stream):
            if isinstance(item, Rejection):
                raise _refusal(path, item)
            if item.is_problem_only:
                raise _refusal(path, Rejection(line, Message("neither_steps_nor_solution"), field="steps"))
            place = f"{path}, line {line}"
            with _placed(place):
                unpacked = list(unpack(item, line))
            yield from ((place, one) for one in unpacked)


@contextmanager
def _mapped(path: Path) -> Iterator[None]:
    """Add to the error of a table without a fitting mapping which file it is and what to do."""
    try:
        yield
    except FormatError as error:
        raise DataError(Message("table_needs_mapping", path=path, error=error.message)) from None


def _refusal(path: Path, rejection: Rejection) -> DataError:
    place = f"{path}, line {rejection.line}"
    if rejection.field:
        place = Message("place_with_field", where=place, field=rejection.field)
    return DataError(Message("place_error", where=place, error=rejection.reason))
