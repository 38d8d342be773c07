"""Reading what to measure on, and scores that were computed elsewhere."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import msgspec

from prm.errors import DataError
from prm.manifest import file_sha256
from prm.messages import Message
from prm.readers import candidates, own, prmbench, processbench, samples
from prm.readers.records import decode, read_raw
from prm.scores import TraceScore
from prm.traces import Trace

Judged = Literal["steps", "prmbench", "best of n"]
FORMATS: tuple[Any, ...] = (prmbench, candidates, samples, processbench, own)  # the most telling marks first


@dataclass(frozen=True)
class Benchmark:
    """Traces of one format; `files` are names with the SHA-256 of their bytes."""

    name: str
    judged: Judged
    files: dict[str, str]
    traces: list[Trace]


def read_benchmark(paths: Sequence[Path]) -> Benchmark:
    """The traces of files of one format, whichever it is.

    Raises DataError for a file of no known format, files of several, and an id that comes twice (but
    PRMBench's, whose own evaluation takes the first).
    """
    formats = {path: _format_of(path) for path in paths}
    if len(set(formats.values())) > 1:
        files = ", ".join(f"{path} ({form.NAME})" for path, form in formats.items())
        raise DataError(Message("mixed_formats", files=files))
    form = formats[paths[0]]
    traces: dict[str, Trace] = {}
    for path in paths:
        for where, raw in read_raw(path):
            for trace in _traces(form, where, raw):
                if traces.setdefault(trace.id, trace) is not trace and form is not prmbench:
                    raise DataError(Message("solution_repeated", where=where, id=trace.id))
    return Benchmark(
        name=form.NAME,
        judged=form.JUDGED,
        files={path.name: file_sha256(path) for path in paths},
        traces=list(traces.values()),
    )


def read_published(path: Path) -> dict[str, list[TraceScore]]:
    """The scores in a file by the model that gave them: ours, or those that a pool of others carries.

    Ours name no model: the file's name stands for it. Raises DataError where there are none.
    """
    scores: dict[str, list[TraceScore]] = {}
    for model, score in _scores(path):
        scores.setdefault(model or path.name.partition(".")[0], []).append(score)
    if not scores:
        raise DataError(Message("file_without_scores", path=path))
    return scores


def _traces(form: Any, where: str, raw: msgspec.Raw) -> list[Trace]:
    try:
        return list(form.traces_of(decode(where, raw, form.Record)))
    except ValueError as error:
        raise DataError(Message("place_error", where=where, error=error)) from error


def _scores(path: Path) -> Iterator[tuple[str, TraceScore]]:
    if _fields(path) >= own.SCORE_MARKS:
        for where, raw in read_raw(path):
            yield from own.scores_of(decode(where, raw, TraceScore))
        return
    form = _format_of(path)
    if form not in (candidates, samples):
        raise DataError(Message("records_without_scores", path=path, name=form.NAME))
    for where, raw in read_raw(path):
        yield from form.scores_of(decode(where, raw, form.Record))


def _format_of(path: Path) -> Any:
    fields = _fields(path)
    for form in FORMATS:
        if fields >= form.MARKS:
            return form
    known = "; ".join(f"{form.NAME} ({', '.join(sorted(form.MARKS))})" for form in FORMATS)
    raise DataError(Message("unknown_record_fields", path=path, fields=", ".join(sorted(fields)), known=known))


def _fields(path: Path) -> set[str]:
    """The names of the first record's fields."""
    for where, raw in read_raw(path):
        record = decode(where, raw, dict[str, msgspec.Raw])
        return set(record)
    raise DataError(Message("file_without_records", path=path))
