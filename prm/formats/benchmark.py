"""Reads benchmarks, and scores that were computed elsewhere."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from prm.errors import DataError
from prm.formats.mapping import Mapping
from prm.formats.registry import Judged
from prm.formats.trace_files import first_fields, open_traces
from prm.labels import is_left_to_measure
from prm.manifest import Manifest, file_sha256, traces_sha256
from prm.messages import Message
from prm.scores import TraceScore, read_scores
from prm.traces import Trace
from prm.vocabulary import Split

SCORE_MARKS = frozenset({"id", "mean", "heads"})


@dataclass(frozen=True)
class Benchmark:
    """Traces of one format; `files` maps file names to the SHA-256 of their bytes, and `split` is as in `TraceFile`.

    `parts` has the traces of each file.
    """

    name: str
    judged: Judged
    files: dict[str, str]
    parts: list[list[Trace]]
    split: Split

    @property
    def traces(self) -> list[Trace]:
        """The traces of all files."""
        return [trace for part in self.parts for trace in part]

    def unseen_by(self, model: str, manifest: Manifest | None) -> "Benchmark":
        """The benchmark without what the model learned from.

        Of a published benchmark, training left out some problems. Raises DataError if nothing is left.
        """
        trained = manifest.data_sha256 if manifest else None
        parts = [self.traces] if traces_sha256(self.traces) == trained else self.parts
        left = [self._left_out(part) if traces_sha256(part) == trained else part for part in parts]
        if left == parts:
            return self
        if not any(left):
            raise DataError(Message("measured_on_training_data", files=" and ".join(self.files), name=model))
        return replace(self, name=f"{self.name}, problems that training left out", parts=left)

    def _left_out(self, part: list[Trace]) -> list[Trace]:
        return [trace for trace in part if self.split == "holdout" and is_left_to_measure(trace)]


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
    seen: set[str] = set()
    parts: list[list[Trace]] = [[] for _ in files]
    for file, part in zip(files, parts, strict=True):
        for where, trace in file.read():
            if trace.id not in seen:
                seen.add(trace.id)
                part.append(trace)
            elif first.judged != "prmbench":
                raise DataError(Message("solution_repeated", where=where, id=trace.id))
    if not seen:
        raise DataError(Message("file_without_records", path=paths[0]))
    return Benchmark(
        name=first.label,
        judged=first.judged,
        files={path.name: file_sha256(path) for path in paths},
        parts=parts,
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
