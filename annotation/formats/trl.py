"""TRL's stepwise supervision: `{"prompt": ..., "completions": [...], "labels": [true, ...]}` a line or Parquet row.

The format has a yes or no for each step of one line of steps. Writing follows the path that the
annotations agree on; the line ends at the first error, or before the first step that has no yes or no:
an unsure one, a step that a person wrote, a neutral one where the policy drops it.
"""

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, Literal

import msgspec
import pyarrow

from annotation.formats import parquet_rows
from annotation.formats.given import annotator_in, rated_label
from annotation.formats.path import Taken, agreed_rating, consensus_path
from annotation.formats.reading import Numbered, Unreadable, read_records
from annotation.formats.record import Completion, Record
from annotation.wording import counted, said

SCHEMA = pyarrow.schema(
    [
        ("prompt", pyarrow.string()),
        ("completions", pyarrow.list_(pyarrow.string())),
        ("labels", pyarrow.list_(pyarrow.bool_())),
    ]
)
Neutral = Literal["positive", "negative", "drop"]


class _Line(msgspec.Struct):
    prompt: str
    completions: list[str]
    labels: list[bool]


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, record or rejection) from behind the first `skip` of them."""
    return read_records(stream, _record, skip=skip)


def write(
    records: Iterable[Record], *, neutral: Neutral = "positive", stop_at_first_error: bool = True
) -> Iterator[bytes]:
    """One line for each solution that has a label on its agreed path."""
    for row in _rows(records, neutral, stop_at_first_error):
        yield msgspec.json.encode(row) + b"\n"


def write_parquet(records: Iterable[Record], *, neutral: Neutral = "positive") -> Iterator[bytes]:
    """The same rows as a Parquet file, as TRL's own datasets are stored."""
    return parquet_rows.write_rows(_rows(records, neutral, True), SCHEMA)


def _rows(records: Iterable[Record], neutral: Neutral, stop_at_first_error: bool) -> Iterator[dict[str, Any]]:
    for record in records:
        completions, labels = [], []
        for step in consensus_path(record):
            rating = agreed_rating(record, step)
            label = _label(rating, neutral)
            if label is None:
                break
            completions.append(_text(record, step))
            labels.append(label)
            if rating == -1 and stop_at_first_error:
                break
        if labels:
            yield {"prompt": record.problem, "completions": completions, "labels": labels}


def _label(rating: int | None, neutral: Neutral) -> bool | None:
    if rating is None or (rating == 0 and neutral == "drop"):
        return None
    return rating == 1 or (rating == 0 and neutral == "positive")


def _text(record: Record, step: Taken) -> str:
    return step.own_text or "" if step.alternative is None else record.positions[step.position][step.alternative].text


def _record(value: Any) -> Record:
    line = msgspec.convert(value, _Line)
    if len(line.labels) != len(line.completions):
        raise Unreadable(
            "labels",
            said(
                "Expected a label for each of {steps}, got {given}",
                given=counted("{n} label", "{n} labels", n=len(line.labels)),
                steps=counted("{n} completion", "{n} completions", n=len(line.completions)),
            ),
        )
    return Record(
        problem=line.prompt,
        positions=[[Completion(text)] for text in line.completions],
        extra={key: value[key] for key in value if key not in _Line.__struct_fields__},
        annotations=[
            rated_label([1 if good else -1 for good in line.labels], kind="consensus", name=annotator_in(value, "trl"))
        ],
    )
