"""Converts records and solutions to traces."""

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

import msgspec

from annotation.labels.consensus.consensus import consensus_of
from annotation.models import Solution
from prm.formats import record_traces
from prm.formats.record import Record
from prm.formats.record_traces import is_labelled
from prm.labels import first_error
from prm.traces import Step, Trace, write_traces
from prm.vocabulary import MACHINES


def write_training_traces(records: Iterable[Record], path: Path, *, graded: Iterable[Record] = ()) -> int:
    """Write the labelled solutions of pool and calibration as traces, then the `graded` ones; returns how many.

    The holdout is left out here, and the library rejects it too. In calibration only people's labels count, because the
    threshold must not be fitted to a machine's labels. Graded solutions have no labels, only a graded final answer, and
    Monte Carlo estimates if their record has them.
    """
    training = (
        without_machines(record) if record.split == "calibration" else record
        for record in records
        if record.split in ("pool", "calibration")
    )
    return write_traces(path, chain(_traces(training), map(_as_listed, graded)))


def write_holdout_traces(records: Iterable[Record], path: Path) -> int:
    """Write the holdout solutions whose first error people's labels settle as traces; returns how many."""
    return write_traces(path, holdout_traces(records))


def holdout_traces(records: Iterable[Record]) -> Iterator[Trace]:
    """The holdout solutions whose first error people's labels settle, as traces."""
    holdout = _traces(without_machines(record) for record in records if record.split == "holdout")
    return (trace for trace in holdout if first_error(trace) is not None)


def write_settled_traces(records: Iterable[Record], path: Path, *, graded: Iterable[Record]) -> Counter[str]:
    """Write the solutions of all splits whose first error people's labels settle, then the unread `graded` ones.

    The latter have no labels, even if their record has Monte Carlo estimates. Returns the number of settled ones of
    each split.
    """
    by_split: Counter[str] = Counter()
    read: set[str] = set()

    def settled() -> Iterator[Trace]:
        for trace in _traces(map(without_machines, records)):
            if first_error(trace) is not None:
                by_split[trace.split] += 1
                read.add(trace.id)
                yield trace

    bare = (_as_listed(msgspec.structs.replace(record, annotations=[])) for record in graded)
    write_traces(path, chain(settled(), (trace for trace in bare if trace.id not in read)))
    return by_split


def without_machines(record: Record) -> Record:
    """The record with people's labels only: a project may train on machines' labels, but never measures on them.

    If labels are removed, the remaining ones have equal weights in the consensus.
    """
    people = [annotation for annotation in record.annotations if annotation.source_kind not in MACHINES]
    if len(people) == len(record.annotations):
        return record
    return msgspec.structs.replace(record, annotations=people, consensus=consensus_of(people))


def _traces(records: Iterable[Record]) -> Iterator[Trace]:
    return filter(is_labelled, map(record_traces.trace_of, records))


def _as_listed(record: Record) -> Trace:
    """A listed solution, with the shares of its Monte Carlo estimates as labels if it has any."""
    trace = record_traces.trace_of(msgspec.structs.replace(record, consensus=consensus_of(record.annotations)))
    return trace if record.annotations else msgspec.structs.replace(trace, labels=None)


def trace_of(solution: Solution) -> Trace:
    """The solution as sampled, without labels; needs `problem` and `steps`."""
    return Trace(
        id=str(solution.pk),
        problem=solution.problem.text,
        problem_id=str(solution.problem_id),
        split=solution.split,  # type: ignore[arg-type]
        domain=solution.problem.domain,
        steps=[Step(step.text, step.kind) for step in solution.sampled_steps],
    )
