"""Records and solutions become traces."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from annotation.loop.gateway.training_labels import LabelledStep, labelled_solution, without_machines
from annotation.models import Solution
from prm.formats.record import Record, RecordAnnotation

if TYPE_CHECKING:
    from prm.traces import LabelSource, StepLabel, Trace


def write_training_traces(records: Iterable[Record], path: Path) -> int:
    """Write the labelled solutions of pool and calibration as traces; returns how many.

    The holdout stays out here, and the library refuses it once more. In calibration only people's labels count, since
    a threshold fitted to a machine's labels would be the machine's.
    """
    from prm.traces import write_traces

    taught = (
        without_machines(record) if record.split == "calibration" else record
        for record in records
        if record.split in ("pool", "calibration")
    )
    return write_traces(path, _traces(taught))


def write_holdout_traces(records: Iterable[Record], path: Path) -> int:
    """Write the holdout solutions whose first error annotators' labels settle as traces; returns how many."""
    from prm.labels import first_error
    from prm.traces import write_traces

    held = _traces(without_machines(record) for record in records if record.split == "holdout")
    return write_traces(path, (trace for trace in held if first_error(trace) is not None))


def write_known_traces(records: Iterable[Record], path: Path) -> Counter[str]:
    """Write every solution whose first error annotators' labels settle, whatever its split; returns them by split."""
    from prm.labels import first_error
    from prm.traces import write_traces

    by_split: Counter[str] = Counter()

    def known() -> "Iterator[Trace]":
        for trace in _traces(map(without_machines, records)):
            if first_error(trace) is not None:
                by_split[trace.split] += 1
                yield trace

    write_traces(path, known())
    return by_split


def _traces(records: Iterable[Record]) -> "Iterator[Trace]":
    from prm.traces import Alternative, Step, Trace

    for record in records:
        labelled = labelled_solution(record)
        path, beside = labelled.path, labelled.alternatives
        if not any(step.consensus for step in (*path, *(step for _, step in beside))):
            continue
        yield Trace(
            id=str(record.solution_id),
            problem=record.problem,
            problem_id=str(record.problem_id),
            source_group=record.source_group,
            split=record.split,  # type: ignore[arg-type]
            domain=record.domain,
            generator=record.generator,
            steps=[Step(step.text, step.kind) for step in path],
            labels=[_posterior(step) for step in path],
            alternatives=[Alternative(place, Step(step.text, step.kind), _posterior(step)) for place, step in beside],
            sources=[_source(annotation) for annotation in record.annotations],
            final_answer_correct=record.final_answer_correct if labelled.as_sampled else None,
        )


def _source(annotation: RecordAnnotation) -> "LabelSource":
    from prm.traces import LabelSource

    who = annotation.annotator or annotation.source_name
    return LabelSource(annotation.source_kind, who, annotation.first_error)


def _posterior(step: LabelledStep) -> "StepLabel | None":
    from prm.traces import StepLabel

    agreed = step.consensus
    if agreed is None:
        return None
    return StepLabel(good=agreed.good, neutral=agreed.neutral, bad=agreed.bad, weight=agreed.weight)


def trace_of(solution: Solution) -> "Trace":
    """The solution as sampled, without labels; needs `problem` and `steps` at hand."""
    from prm.traces import Step, Trace

    steps = [step for step in solution.steps.all() if step.alternative == 0]
    return Trace(
        id=str(solution.pk),
        problem=solution.problem.text,
        problem_id=str(solution.problem_id),
        split=solution.split,  # type: ignore[arg-type]
        domain=solution.problem.domain,
        steps=[Step(step.text, step.kind) for step in steps],
    )
