"""Reads benchmarks, and scores that were computed elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prm.errors import DataError
from prm.formats.mapping import Mapping
from prm.formats.registry import Judged
from prm.formats.trace_files import first_fields, open_traces
from prm.labels import is_left_to_measure
from prm.manifest import file_sha256
from prm.messages import Message
from prm.scores import TraceScore, read_scores
from prm.traces import Trace
from prm.vocabulary import Split

SCORE_MARKS = frozenset({"id", "mean", "heads"})


@dataclass(frozen=True)
class Benchmark:
    """Traces of one format; `files` maps file names to the SHA-256 of their bytes, and `split` is as in `TraceFile`."""

    name: str
    judged: Judged
    files: dict[str, str]
    traces: list[Trace]
    split: Split

    def left_out_of_training(self) -> "Benchmark":
        """The problems that training on these files leaves out: none unless they are a published benchmark."""
        left = [trace for trace in self.traces if self.split == "holdout" and is_left_to_measure(trace)]
        return replace(self, name=f"{self.name}, problems that training left out", traces=left)


def read_benchmark(paths: Sequence[Path], mapping: Mapping | None = None) -> Benchmark:
    """The traces of files that share a format.

    Raises DataError for an unknown format, different formats, or a repeated id. Of repeated PRMBench ids the first
    counts, as in its own evaluation.
    """
    files = [open_traces(path, mapping) for path in paths]
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
        split=first.split,
    )


def read_published(path: Path) -> dict[str, list[TraceScore]]:
    """The scores in a file by model: from `prm score`, which are named after the file, or from a published pool.

    Raises DataError if there are none.
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
