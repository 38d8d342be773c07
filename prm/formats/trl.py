"""TRL's stepwise supervision: `{"prompt": ..., "completions": [...], "labels": [true, ...]}` per line or Parquet row.

Each step has a Boolean label. Writing follows the path that the annotations agree on. The line ends at the first error,
or before the first step without a Boolean label: an unsure step, one that a person wrote, or a neutral one if the
policy drops it. A line has neither the kind of its labels nor the split of its problem, since trainers use every row
and drop other columns.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from prm.exporters import exporter
from prm.formats.labels import annotator_in, rated_label
from prm.formats.path import Taken, agreed_rating, consensus_path
from prm.formats.reading import Unreadable, convert_record, other_fields
from prm.formats.record import Record, sampled
from prm.formats.registry import file_format
from prm.formats.writing import STEP_WISE, UNSTATED, Loss, always, encode_parquet
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

if TYPE_CHECKING:
    import pyarrow

NOT_HELD = (*UNSTATED, "alternatives", *STEP_WISE)


class _Line(msgspec.Struct):
    prompt: str
    completions: list[str]
    labels: list[bool]


class Line(NamedTuple):
    """The rated steps of a solution's agreed path, up to the first error if requested.

    `ends` is the reason for ending before the agreed path, or for having no step: `unlabelled`, `no_path`, `unrated`,
    `own_step` or `neutral`; else it is empty.
    """

    steps: list[tuple[Taken, int]]
    ends: str

    def up_to_neutral(self) -> "Line":
        """The line if neutral steps are dropped."""
        for number, (_, rating) in enumerate(self.steps):
            if rating == 0:
                return Line(self.steps[:number], "neutral")
        return self


def line_of(record: Record, *, stop_at_first_error: bool = True) -> Line:
    """The line of a solution before a policy on neutral steps."""
    steps: list[tuple[Taken, int]] = []
    if not record.annotations:
        return Line(steps, "unlabelled")
    path = consensus_path(record)
    for step in path:
        rating = agreed_rating(record, step)
        if rating is None:
            return Line(steps, "own_step" if step.alternative is None else "unrated")
        steps.append((step, rating))
        if rating == -1 and stop_at_first_error:
            break
    return Line(steps, "" if path else "no_path")


def _text(record: Record, step: Taken) -> str:
    return step.own_text or "" if step.alternative is None else record.positions[step.position][step.alternative].text


@file_format("trl", label="TRL", keys=("prompt", "completions", "labels"))
def trl(value: Any) -> Record:
    line = convert_record(value, _Line)
    if len(line.labels) != len(line.completions):
        raise Unreadable(
            "labels",
            Message(
                "label_count_differs",
                given=Message("n_labels", n=len(line.labels)),
                steps=Message("n_completions", n=len(line.completions)),
            ),
        )
    return Record(
        problem=line.prompt,
        positions=sampled(line.completions),
        extra=other_fields(value, _Line),
        annotations=[
            rated_label([1 if good else -1 for good in line.labels], kind="consensus", name=annotator_in(value, "trl"))
        ],
    )


@trl.writes(two_classes=True, not_held=NOT_HELD, by_structure=always)
def lines(
    record: Record, neutral: NeutralPolicy, *, stop_at_first_error: bool = True
) -> Iterator[dict[str, Any] | Loss]:
    """The row of a solution that has a label on its agreed path."""
    line = line_of(record, stop_at_first_error=stop_at_first_error)
    steps, ends = line.up_to_neutral() if neutral == "drop" else line
    if ends:
        yield Loss(ends)
    if steps:
        yield {
            "prompt": record.problem,
            "completions": [_text(record, step) for step, _ in steps],
            "labels": [rating == 1 or (rating == 0 and neutral == "positive") for _, rating in steps],
        }


def schema() -> "pyarrow.Schema":
    """The columns of a Parquet file."""
    import pyarrow

    return pyarrow.schema(
        [
            ("prompt", pyarrow.string()),
            ("completions", pyarrow.list_(pyarrow.string())),
            ("labels", pyarrow.list_(pyarrow.bool_())),
        ]
    )


exporter(
    "trl_parquet",
    title=Message("export_trl_parquet"),
    suffix="parquet",
    encode=encode_parquet(schema),
    two_classes=True,
    not_held=NOT_HELD,
    by_structure=always,
)(lines)
