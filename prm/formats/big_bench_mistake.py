"""BIG-Bench-Mistake (Tyen et al. 2024, github.com/WHGTyen/BIG-Bench-Mistake): JSON Lines of chains of thought.

`mistake_index` is the 0-based index of the first wrong step, null for none. `target` is the right answer,
`answer` the one that the chain gave, null for none; both are compared as they stand.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from prm.formats.given import NONE, annotator_in, index_label, label_to_write
from prm.formats.reading import Numbered, read_records
from prm.formats.record import Completion, Record, RecordAnnotation, as_given

SOURCE = "big_bench_mistake"


class _Line(msgspec.Struct):
    input: str
    target: str
    answer: str | None
    steps: list[str]
    mistake_index: int | None


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_records(stream, _record, skip=skip)


def write(records: Iterable[Record]) -> Iterator[bytes]:
    """One line for each solution whose first error is known."""
    for record in records:
        if label := label_to_write(record.annotations, SOURCE):
            yield msgspec.json.encode(_native(record, label)) + b"\n"


def _record(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    error = NONE if line.mistake_index is None else line.mistake_index
    if line.mistake_index is not None and line.mistake_index < 0:
        error = len(line.steps)  # this format says none by null alone
    label = index_label(
        error, len(line.steps), field="mistake_index", kind="consensus", name=annotator_in(value, SOURCE)
    )
    return Record(
        problem=line.input,
        positions=[[Completion(text)] for text in line.steps],
        reference_answer=line.target,
        final_answer=line.answer,
        final_answer_correct=line.answer is not None and line.answer.strip() == line.target.strip(),
        extra={key: value[key] for key in value if key not in _Line.__struct_fields__},
        annotations=[label],
    )


def _native(record: Record, label: RecordAnnotation) -> dict[str, Any]:
    return {
        **as_given(record, label, "extra"),
        "input": as_given(record, label, "problem"),
        "steps": [at[0].text for at in record.positions if at],
        "answer": as_given(record, label, "final_answer"),
        "target": as_given(record, label, "reference_answer") or "",
        "mistake_index": None if label.first_error == NONE else label.first_error,
    }
