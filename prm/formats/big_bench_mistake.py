"""BIG-Bench-Mistake (Tyen et al. 2024, github.com/WHGTyen/BIG-Bench-Mistake): JSON Lines of chains of thought.

`mistake_index` is the 0-based index of the first wrong step, null if there is none. `target` is the right answer and
`answer` the chain's, null if it has none; they are compared as text.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from prm.formats.labels import annotator_in, error_along, index_label
from prm.formats.reading import convert_record, other_fields
from prm.formats.record import Record, RecordAnnotation, as_imported, sampled
from prm.formats.registry import file_format
from prm.formats.writing import always
from prm.vocabulary import NO_ERROR, NeutralPolicy


class _Line(msgspec.Struct):
    input: str
    target: str
    answer: str | None
    steps: list[str]
    mistake_index: int | None


@file_format("big_bench_mistake", label="BIG-Bench-Mistake", keys=("input", "steps", "target", "mistake_index"))
def big_bench_mistake(value: Any) -> Record:
    line = convert_record(value, _Line)
    error = NO_ERROR if line.mistake_index is None else line.mistake_index
    if line.mistake_index is not None and line.mistake_index < 0:
        error = len(line.steps)  # invalid: only null means no error
    label = index_label(
        error, len(line.steps), field="mistake_index", kind="consensus", name=annotator_in(value, "big_bench_mistake")
    )
    return Record(
        problem=line.input,
        positions=sampled(line.steps),
        reference_answer=line.target,
        final_answer=line.answer,
        final_answer_correct=line.answer is not None and line.answer.strip() == line.target.strip(),
        extra=other_fields(value, _Line),
        annotations=[label],
    )


@big_bench_mistake.writes_label(by_structure=always)
def _lines(record: Record, label: RecordAnnotation, neutral: NeutralPolicy) -> Iterator[dict[str, Any]]:
    steps, error = error_along(record, label)
    yield {
        **as_imported(record, label, "extra"),
        "input": as_imported(record, label, "problem"),
        "steps": steps,
        "answer": as_imported(record, label, "final_answer"),
        "target": as_imported(record, label, "reference_answer") or "",
        "mistake_index": None if error == NO_ERROR else error,
    }
