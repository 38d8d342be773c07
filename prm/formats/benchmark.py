"""Reading what to measure on, and scores that were computed elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from prm.errors import DataError
from prm.formats.registry import Judged
from prm.formats.trace_files import first_fields, open_traces
from prm.manifest import file_sha256
from prm.messages import Message
from prm.scores import TraceScore, read_scores
from prm.traces import Trace

SCORE_MARKS = frozenset({"id", "mean", "heads"})


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
    files = [open_traces(path) for path in paths]
    if len({file.label for file in files}) > 1:
        named = ", ".join(f"{file.path} ({file.label})" for file in files)
        raise DataError(Message("mixed_formats", files=named))
    first = files[0]
    traces: dict[str, Trace] = {}
    for file in files:
        for where, trace in file.read():
            if traces.setdefault(trace.id, trace) is not trace and first.judged != "prmbench":
                raise DataError(Message("solution_repeated", where=where, id=trace.id))
    if not traces:
        raise DataError(Message("file_without_records", path=paths[0]))
    return Benchmark(
        name=first.label,
        judged=first.judged,
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


def _scores(path: Path) -> Iterable[tuple[str, TraceScore]]:
    if first_fields(path) >= SCORE_MARKS:
        return (("", score) for score in read_scores(path))
    file = open_traces(path)
    if file.published is None:
        raise DataError(Message("records_without_scores", path=path, name=file.label))
    return file.published()
