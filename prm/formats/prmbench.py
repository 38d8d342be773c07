"""PRMBench (Song et al. 2025, huggingface.co/datasets/hitsmy/PRMBench_Preview): JSON Lines of falsified solutions.

The solution is `modified_process`, an answer to `modified_question`; `error_steps` are the 1-based numbers
of its wrong steps, all others are right. What it was made from stays with the solution.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

import msgspec

from prm.formats.given import annotator_in, rated_label, steps_along, write_labelled
from prm.formats.reading import Numbered, Unreadable, read_records
from prm.formats.record import Completion, Record, RecordAnnotation, as_given
from prm.messages import Message

SOURCE = "prmbench"


class _Line(msgspec.Struct):
    modified_question: str
    modified_process: list[str]
    error_steps: list[int]
    classification: str = ""
    idx: str = ""


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_records(stream, _record, skip=skip)


def write(records: Iterable[Record]) -> Iterator[bytes]:
    """One line for each solution whose every step is rated."""
    return write_labelled(records, SOURCE, _native)


def _record(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    count = len(line.modified_process)
    for number in line.error_steps:
        if not 1 <= number <= count:
            raise Unreadable("error_steps", Message("error_step_out_of_range", number=number, count=count))
    ratings = [-1 if number in line.error_steps else 1 for number in range(1, count + 1)]
    return Record(
        problem=line.modified_question,
        positions=[[Completion(text)] for text in line.modified_process],
        domain=line.classification,
        external_id=line.idx,
        extra={key: value[key] for key in value if key not in _Line.__struct_fields__},
        annotations=[
            rated_label(
                ratings,
                kind="consensus",
                name=annotator_in(value, SOURCE),
                native={"error_steps": value["error_steps"]},
            )
        ],
    )


def _native(record: Record, annotation: RecordAnnotation) -> dict[str, Any] | None:
    along = steps_along(record, annotation)
    steps, ratings = [step.text for step in along], [step.rating for step in along]
    if None in ratings:
        return None
    told = {
        "classification": as_given(record, annotation, "domain"),
        "idx": as_given(record, annotation, "external_id"),
    }
    wrong = [number for number, rating in enumerate(ratings, start=1) if rating == -1]
    return {
        **as_given(record, annotation, "extra"),
        "modified_question": as_given(record, annotation, "problem"),
        "modified_process": steps,
        "error_steps": annotation.native.get("error_steps", wrong),
        **{key: text for key, text in told.items() if text},
    }
