"""Records and solutions become traces."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from annotation.labels.quality.consensus import consensus_of
from annotation.models import Solution
from prm.formats import record_traces
from prm.formats.record import Record
from prm.formats.record_traces import is_labelled
from prm.labels import first_error
from prm.traces import Step, Trace, write_traces
from prm.vocabulary import MACHINES


def write_training_traces(records: Iterable[Record], path: Path) -> int:
    """Write the labelled solutions of pool and calibration as traces; returns how many.

    The holdout stays out here, and the library refuses it once more. In calibration only people's labels count, since
    a threshold fitted to a machine's labels would be the machine's.
    """
    taught = (
        without_machines(record) if record.split == "calibration" else record
        for record in records
        if record.split in ("pool", "calibration")
    )
    return write_traces(path, _traces(taught))


def write_holdout_traces(records: Iterable[Record], path: Path) -> int:
    """Write the holdout solutions whose first error annotators' labels settle as traces; returns how many."""
    held = _traces(without_machines(record) for record in records if record.split == "holdout")
    return write_traces(path, (trace for trace in held if first_error(trace) is not None))


def write_known_traces(records: Iterable[Record], path: Path) -> Counter[str]:
    """Write every solution whose first error annotators' labels settle, whatever its split; returns them by split."""
    by_split: Counter[str] = Counter()

    def known() -> Iterator[Trace]:
        for trace in _traces(map(without_machines, records)):
            if first_error(trace) is not None:
                by_split[trace.split] += 1
                yield trace

    write_traces(path, known())
    return by_split


def without_machines(record: Record) -> Record:
    """The record with the word of annotators alone: a project may train on machines' labels, never measure on them.

    Where machines are left out, the words that remain count alike.
    """
    people = [annotation for annotation in record.annotations if annotation.source_kind not in MACHINES]
    if len(people) == len(record.annotations):
        return record
    return msgspec.structs.replace(record, annotations=people, consensus=consensus_of(people))


def _traces(records: Iterable[Record]) -> Iterator[Trace]:
    return filter(is_labelled, map(record_traces.trace_of, records))


def trace_of(solution: Solution) -> Trace:
    """The solution as sampled, without labels; needs `problem` and `steps` at hand."""
    steps = [step for step in solution.steps.all() if step.alternative == 0]
    return Trace(
        id=str(solution.pk),
        problem=solution.problem.text,
        problem_id=str(solution.problem_id),
        split=solution.split,  # type: ignore[arg-type]
        domain=solution.problem.domain,
        steps=[Step(step.text, step.kind) for step in steps],
    )
