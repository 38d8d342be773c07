"""ProcessBench (huggingface.co/datasets/Qwen/ProcessBench): a JSON array (or JSON Lines) of solutions.

`label` is the 0-based index of the first wrong step as human experts agreed on it, -1 for none. Steps
before it are right; nothing is known of those behind it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from prm.formats.given import annotator_in, index_label, label_to_write
from prm.formats.reading import Numbered, read_records
from prm.formats.record import Completion, Record, RecordAnnotation, as_given

SOURCE = "processbench"


class _Line(msgspec.Struct):
    problem: str
    steps: list[str]
    label: int
    id: str = ""
    generator: str = ""
    final_answer_correct: bool | None = None


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_records(stream, _record, skip=skip)


def write(records: Iterable[Record]) -> Iterator[bytes]:
    """A JSON array of the solutions whose first error is known, by the format's own label where there is one."""
    opening = b"[\n"
    for record in records:
        label = label_to_write(record.annotations, SOURCE)
        if label:
            yield opening + msgspec.json.encode(_native(record, label))
            opening = b",\n"
    yield b"[]\n" if opening == b"[\n" else b"\n]\n"


def _record(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    label = index_label(line.label, len(line.steps), field="label", kind="consensus", name=annotator_in(value, SOURCE))
    return Record(
        problem=line.problem,
        positions=[[Completion(text)] for text in line.steps],
        external_id=line.id,
        generator=line.generator,
        final_answer_correct=line.final_answer_correct,
        extra={key: value[key] for key in value if key not in _Line.__struct_fields__},
        annotations=[label],
    )


def _native(record: Record, annotation: RecordAnnotation) -> dict[str, Any]:
    native = {
        "id": as_given(record, annotation, "external_id"),
        "generator": as_given(record, annotation, "generator"),
        "problem": as_given(record, annotation, "problem"),
        "steps": [at[0].text for at in record.positions if at],
        "final_answer_correct": as_given(record, annotation, "final_answer_correct"),
        "label": annotation.first_error,
    }
    known = {key: value for key, value in native.items() if value not in ("", None)}
    return {**as_given(record, annotation, "extra"), **known}
