"""How records become the file of a format, and what the format leaves out."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from prm.formats import parquet_rows
from prm.formats.labels import label_to_write
from prm.formats.raw import join_pieces, json_lines
from prm.formats.record import Record, RecordAnnotation
from prm.vocabulary import NeutralPolicy

if TYPE_CHECKING:
    import pyarrow

STEP_WISE = ("error_types", "dimensions", "accepted", "hints")
ALONG_PATH = ("alternatives", "own_steps", *STEP_WISE)
UNSTATED = ("merged", "draws", "guidelines")  # by formats that state little of where a label comes from
ONE_LABEL = (*UNSTATED, *ALONG_PATH)
CONTENT_TYPES = {
    "jsonl": "application/x-ndjson",
    "json": "application/json",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "zip": "application/zip",
}


class Loss(NamedTuple):
    """Why a writer leaves out a solution or, beside a row of it, why that row ends early.

    `reason` is one of the codes in `annotation.labels.datasets.plans`, or a phrase of an extension.
    """

    reason: str


class About(NamedTuple):
    """What a file can say of itself: the name and the version of its writer, and the card of its dataset."""

    name: str
    version: str
    card: Callable[[], str]


Lines = Callable[[Record, NeutralPolicy], Iterable[Any]]
LabelLines = Callable[[Record, RecordAnnotation, NeutralPolicy], Iterable[Any]]
Encode = Callable[[Iterable[Any], About], Iterator[bytes]]
Fits = Callable[[Record], bool]


def always(record: Record) -> bool:
    return True


def never(record: Record) -> bool:
    return False


def without_extra(record: Record) -> bool:
    """For formats that write the line that `extra` holds: none of them can express a record without it."""
    return not record.extra


def along_label(*, known_error: bool) -> Callable[[LabelLines], Lines]:
    """A decorator that turns the rows of a record and a label into those of a record.

    The label is the only one, or that on which several agree. With `known_error` its first error is known.
    """

    def decorate(label_lines: LabelLines) -> Lines:
        def lines(record: Record, neutral: NeutralPolicy) -> Iterable[Any]:
            label = label_to_write(record)
            if label is None:
                return [Loss("unlabelled")]
            if known_error and label.first_error is None:
                return [Loss("unknown_error")]
            return label_lines(record, label, neutral)

        lines.__module__ = label_lines.__module__
        return lines

    return decorate


def encode_lines(rows: Iterable[Any], about: About) -> Iterator[bytes]:
    """The rows as JSON Lines."""
    return json_lines(rows)


def encode_parquet(schema: "Callable[[], pyarrow.Schema]") -> Encode:
    """A function that makes a Parquet file of rows, whose metadata names the writer and its version.

    It calls `schema` for each file: only processes that write Parquet load pyarrow, which takes 40 MB.
    """
    return lambda rows, about: parquet_rows.write_rows(rows, signed(schema(), about))


def signed(schema: "pyarrow.Schema", about: About) -> "pyarrow.Schema":
    """The schema with the writer and its version in its metadata."""
    return schema.with_metadata({"stepmark_writer": about.name, "stepmark_writer_version": about.version})


@dataclass(frozen=True)
class Exporter:
    """How records become a file with the extension `suffix`; `title` is the format's name on pages and in cards.

    `lines` yields the rows of a record, and a Loss if it leaves the record out or ends a row early. `encode` makes the
    bytes of a file from the rows. Raise `version` with every change of what is written.

    `not_held` names the counts of a snapshot that the format cannot express. A line of a `nameless` format has neither
    its split nor the kind of its labels, so a file has only the pool unless other splits are requested, and labels of
    one kind unless the request allows several. With `two_classes` the policy on neutral steps matters. A file of a
    format that `has_card` contains the card of its dataset.

    `by_structure` says of a record whether the number of its rows and its losses depend only on its structure: the
    kinds of its completions; what each label says except its texts, times and marks; the agreed rating of each step.
    Records of one structure are then counted by one dry run.
    """

    name: str
    title: str
    lines: Lines
    encode: Encode = encode_lines
    suffix: str = "jsonl"
    version: str = "1"
    not_held: tuple[str, ...] = ONE_LABEL
    nameless: bool = True
    two_classes: bool = False
    has_card: bool = False
    by_structure: Fits = never

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES.get(self.suffix, "application/octet-stream")

    @property
    def has_labels(self) -> bool:
        return "labels" not in self.not_held

    def write(
        self, records: Iterable[Record], neutral: NeutralPolicy = "positive", *, card: Callable[[], str] = str
    ) -> Iterator[bytes]:
        """The bytes of a file. `card` returns the card of the dataset, for a format with a place for it."""
        rows = (row for record in records for row in self.lines(record, neutral) if not isinstance(row, Loss))
        return join_pieces(self.encode(rows, About(self.name, self.version, card)))
