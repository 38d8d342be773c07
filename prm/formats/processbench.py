"""ProcessBench (huggingface.co/datasets/Qwen/ProcessBench): a JSON array (or JSON Lines) of solutions.

`label` is the 0-based index of the first wrong step on which human experts agreed, -1 for none. Steps before it are
right; those after it are unknown.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, error_along, index_label
from prm.formats.reading import convert_record, other_fields
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled
from prm.formats.registry import file_format
from prm.formats.writing import always
from prm.traces import Trace
from prm.vocabulary import NeutralPolicy


class _Line(msgspec.Struct):
    problem: str
    steps: list[str]
    label: int
    id: str = ""
    generator: str = ""
    final_answer_correct: bool | None = None


@file_format("processbench", label="ProcessBench", keys=("problem", "steps", "label"), array=True, split="holdout")
def processbench(value: Any) -> Record:
    line = convert_record(value, _Line)
    label = index_label(
        line.label, len(line.steps), field="label", kind="consensus", name=annotator_in(value, "processbench")
    )
    return Record(
        problem=line.problem,
        positions=sampled(line.steps),
        external_id=line.id,
        generator=line.generator,
        final_answer_correct=line.final_answer_correct,
        extra=other_fields(value, _Line),
        annotations=[label],
    )


@processbench.writes_label(by_structure=always)
def _lines(record: Record, annotation: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any]]:
    steps, error = error_along(record, annotation)
    optional = {
        "id": as_imported(record, annotation, "external_id"),
        "generator": as_imported(record, annotation, "generator"),
        "final_answer_correct": as_imported(record, annotation, "final_answer_correct"),
    }
    yield {
        **other_fields(as_imported(record, annotation, "extra"), _Line),
        **{key: value for key, value in optional.items() if value not in ("", None)},
        "problem": as_imported(record, annotation, "problem"),
        "steps": steps,
        "label": error,
    }


@processbench.unpacks
def _unpack(trace: Trace, record: Record) -> list[Trace]:
    """The solution with its subset as the domain: the beginning of its id ("gsm8k-17")."""
    return [msgspec.structs.replace(trace, domain=trace.id.rpartition("-")[0])]
