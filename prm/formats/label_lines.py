"""Labels without their solutions: `{"solution": "a-1", "ratings": [1, 0, -1]}`, or `"first_error": 2` (-1 for none).

JSON Lines, a JSON array, CSV or Parquet. `solution` is the id under which the solution was imported, or its key or its
number in Stepmark. `ratings` has a rating for each step, null for an unrated one. Optional are `annotator`, `comment`
and `kind`, that of the source, which is human by default. Other fields are stored with the label. An import joins the
label to its solution.
"""

from collections.abc import Iterator
from typing import Any, BinaryIO, NoReturn

import msgspec

from prm.errors import DataError
from prm.formats import cells, table
from prm.formats.labels import annotator_in, index_label, rated_label
from prm.formats.mapping import NO_ERROR, Mapping
from prm.formats.raw import CHUNK
from prm.formats.reading import Numbered, Unreadable, parsed_records
from prm.formats.record import Record, RecordAnnotation
from prm.formats.registry import FORMATS, LABELS, Format
from prm.messages import Message
from prm.traces import Trace
from prm.vocabulary import SOURCE_KINDS, StepKind

_FIELDS = ("solution", "ratings", "first_error", "annotator", "kind", "comment")


class LooseLabel(Record):
    """A label without its solution, which `solution` names. It has one annotation without a path.

    Either `ratings` or `first_error` is set.
    """

    solution: str = ""
    ratings: list[int | None] | None = None
    first_error: int | None = None

    def joined(self, kinds: list[StepKind]) -> RecordAnnotation:
        """The label of a solution whose steps have these kinds. Raises Unreadable naming the field."""
        [loose] = self.annotations
        if self.ratings is None:
            assert self.first_error is not None
            label = index_label(
                self.first_error, len(kinds), field="first_error", kind=loose.source_kind, name=loose.source_name
            )
        elif len(self.ratings) == len(kinds):
            label = rated_label(self.ratings, kind=loose.source_kind, name=loose.source_name, kinds=kinds)
        else:
            given, steps = Message("n_labels", n=len(self.ratings)), Message("n_steps", n=len(kinds))
            raise Unreadable("ratings", Message("label_count_differs", given=given, steps=steps))
        return msgspec.structs.replace(label, comment=loose.comment, native=loose.native)


def are_labels(columns: list[str]) -> bool:
    """Whether a file with these columns holds labels only."""
    return "solution" in columns and bool({"ratings", "first_error"} & {*columns}) and {*columns} <= {*_FIELDS}


def loose_label(row: Any) -> LooseLabel:
    """The label in a row; raises Unreadable naming the field."""
    if not isinstance(row, dict):
        raise Unreadable("", Message("not_an_object_with_values"))
    solution = cells.text(row.get("solution"), "solution").strip()
    if not solution:
        raise Unreadable("solution", Message("solution_needed"))
    kind = cells.text(row.get("kind"), "kind").strip() or "human"
    if kind not in SOURCE_KINDS:
        raise Unreadable("kind", Message("word_not_known", word=kind[:40], known=", ".join(SOURCE_KINDS)))
    has_ratings, has_error = (not cells.is_empty(row.get(name)) for name in ("ratings", "first_error"))
    if has_ratings == has_error:
        raise Unreadable("ratings", Message("ratings_or_first_error"))
    rest = {key: value for key, value in row.items() if key not in _FIELDS and not cells.is_empty(value)}
    return LooseLabel(
        problem="",
        positions=[],
        solution=solution,
        ratings=_ratings(row["ratings"]) if has_ratings else None,
        first_error=_first_error(row["first_error"]) if has_error else None,
        annotations=[
            RecordAnnotation(
                source_kind=kind,
                source_name=annotator_in(row, LABELS),
                finish_reason="give_up",
                path=[],
                comment=cells.text(row.get("comment"), "comment"),
                native={"other": rest} if rest else {},
            )
        ],
    )


def _ratings(cell: Any) -> list[int | None]:
    return [cells.rating(value, "sign", 0.0, "ratings") for value in cells.items(cell, "ratings")]


def _first_error(cell: Any) -> int | None:
    word = cells.text(cell, "first_error").strip()
    return -1 if word in NO_ERROR else cells.whole_number(word, "first_error")


def read(stream: BinaryIO, *, skip: int = 0) -> Iterator[Numbered]:
    """Stream (line, label or rejection) after the first `skip`."""
    return parsed_records(table.raw_rows(stream, stream.read(CHUNK), Mapping(), skip), loose_label)


labels = Format(LABELS, Message("format_labels"), read)
FORMATS.add(LABELS, labels, module=__name__)


@labels.unpacks
def _unpack(trace: Trace, record: Record) -> NoReturn:
    raise DataError(Message("labels_without_solutions"))
