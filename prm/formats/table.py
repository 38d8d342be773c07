"""Tables of any columns (CSV, Parquet, JSON Lines or a JSON array), read by a mapping of their columns.

The default mapping is proposed from the first rows. Writing yields a row for each label, and one for a solution without
labels, in columns that reading recognises.
"""

import io
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, get_args

import msgspec

from prm.errors import FormatError
from prm.exporters import exporter
from prm.formats import csv_rows, parquet_rows, plain
from prm.formats.labels import Step, steps_along
from prm.formats.mapping import Column, Drawn, LabelMapping, MadeBy, Mapping, SourceMapping, StepsMapping
from prm.formats.proposing import propose
from prm.formats.raw import BOM, CHUNK, MAX_RECORD_BYTES, Raw, pieces_of, raw_records
from prm.formats.reading import Numbered, on_one_line, original_records, parsed_records
from prm.formats.record import Provenance, Record, RecordAnnotation, Rejection, as_imported
from prm.formats.registry import FORMATS, LABELS, TABLE, Format, Reader
from prm.formats.rows import WORDS, Row, cell_of, columns_of, record_of
from prm.formats.writing import ALONG_PATH, About, Exporter, always, encode_parquet
from prm.messages import Message
from prm.vocabulary import NeutralPolicy

if TYPE_CHECKING:
    import pyarrow

SAMPLED = 100
LOOKED_AT = 1000
MOST_NAMED = 30  # columns in a sentence
COLUMNS = (
    "problem", "steps", "step_kinds", "ratings", "first_error", "source_kind", "source_name", "source_policy",
    "source_rollouts", *get_args(Drawn), "inclusion_weight", "final_answer", "final_answer_correct",
    "reference_answer", "reference_solution", "domain", "source_group", "split", "generator", "external_id",
    "outcome_source",
    *(f"made_by_{field}" for field in get_args(MadeBy)), "extra",
)  # fmt: skip
OWN = Mapping(
    steps=StepsMapping(["steps"], kinds="step_kinds"),
    labels=[
        LabelMapping(
            ["ratings"],
            form="ratings",
            source=SourceMapping(
                kind=Column("source_kind"),
                name=Column("source_name"),
                policy=Column("source_policy"),
                rollouts=Column("source_rollouts"),
            ),
            drawn={field: field for field in get_args(Drawn)},
        )
    ],
    provenance={field: f"made_by_{field}" for field in get_args(MadeBy)},
    # They follow from the ratings, the source group and the inclusion probability.
    left_out=["first_error", "split", "inclusion_weight"],
    guarded=True,
    **dict[str, Any](zip(WORDS, WORDS, strict=True)),
)
# Names of Arrow types; the other columns are texts.
_LISTS = {"steps": "string", "step_kinds": "string", "ratings": "int8"}
_TYPES = {
    "made_by_temperature": "double",
    "first_error": "int32",
    "source_rollouts": "int64",
    "revision": "int32",
    "generation": "int32",
    "inclusion_probability": "double",
    "inclusion_weight": "double",
    "guidelines": "int32",
    "final_answer_correct": "bool",
}


def schema() -> "pyarrow.Schema":
    """The columns of a Parquet file."""
    import pyarrow

    def type_of(name: str) -> pyarrow.DataType:
        if name in _LISTS:
            return pyarrow.list_(pyarrow.type_for_alias(_LISTS[name]))
        return pyarrow.type_for_alias(_TYPES.get(name, "string"))

    return pyarrow.schema([(name, type_of(name)) for name in COLUMNS])


class Sample(NamedTuple):
    """The columns of a table in order, with keys of objects as `column.key`, and its first rows."""

    columns: list[str]
    rows: list[Row]


def read(stream: BinaryIO, *, skip: int = 0, mapping: Mapping | None = None) -> Iterator[Numbered]:
    """Stream (line, record or rejection) after the first `skip`. Without a mapping, raises as `checked` does."""
    head = stream.read(CHUNK)
    if mapping is None:
        mapping = checked(None, sample(io.BytesIO(head) if not stream.seekable() else _rewound(stream)))
        head = _rewound(stream).read(CHUNK) if stream.seekable() else head
    return parsed_records(raw_rows(stream, head, mapping, skip), partial(record_of, mapping=mapping))


def original_rows(stream: BinaryIO, *, mapping: Mapping) -> Iterator[bytes | None]:
    """Stream the rows as JSON objects of their cells; None for a row that cannot be read."""
    for _, raw in raw_rows(stream, stream.read(CHUNK), mapping, 0):
        yield None if isinstance(raw, Rejection) else on_one_line(raw)


def reader_of(format: str, mapping: Mapping | None) -> Reader:
    """The reader of a format; a table uses the mapping."""
    return partial(read, mapping=mapping) if format == TABLE else FORMATS.get(format).read


def originals_of(format: str, mapping: Mapping | None) -> Callable[[BinaryIO], Iterator[bytes | None]]:
    """A function that streams the records of a file unchanged, in the order of its reader."""
    if format in (TABLE, LABELS):
        return partial(original_rows, mapping=mapping or Mapping())
    return plain.originals if format == "plain" else partial(original_records, members=FORMATS.get(format).members)


def sample(stream: BinaryIO, head: bytes = b"", mapping: Mapping | None = None) -> Sample:
    """The first rows of a table; `head` was already read from the stream. Raises OSError for broken Parquet."""
    columns: dict[str, None] = {}
    raws = raw_rows(stream, head or stream.read(CHUNK), mapping or Mapping(), 0)
    rows = list(islice(_objects(islice(raws, LOOKED_AT)), SAMPLED))
    for row in rows:
        for name, value in row.items():
            columns |= dict.fromkeys([f"{name}.{key}" for key in value] if isinstance(value, dict) else [name])
    return Sample(list(columns), rows)


def first_rows(head: bytes, most: int) -> list[bytes | Rejection]:
    """The first rows in the beginning of a file as JSON, undecoded. Raises OSError for an unreadable header."""
    return [raw for _, raw in islice(raw_rows(io.BytesIO(), head, Mapping(), 0), most)]


def checked(mapping: Mapping | None, sample: Sample, *, needs_steps: bool = True) -> Mapping:
    """The mapping, or the proposed one; raises FormatError (`mapping_needed`) if it does not fit the table.

    Unless `needs_steps`, the table may have only problems.
    """
    mapping = mapping or proposed(sample)
    if fault := fault_of(mapping, sample, needs_steps=needs_steps):
        there = ", ".join(sample.columns[:MOST_NAMED]) or Message("none")
        if more := sample.columns[MOST_NAMED:]:
            there = Message("names_and_more", names=there, n=len(more))
        raise FormatError(
            "mapping_needed", Message("mapping_needed", fault=fault, there=there), {"columns": sample.columns}
        )
    return mapping


def proposed(sample: Sample) -> Mapping:
    """The proposed mapping, or `OWN` for a table that this module wrote."""
    return OWN if set(COLUMNS) <= set(sample.columns) else propose(sample.columns, sample.rows)


def fault_of(mapping: Mapping, sample: Sample, *, needs_steps: bool = True) -> str:
    """Why a mapping does not fit a table with these first rows, in a sentence; empty if it does."""
    if not mapping.problem:
        return Message("problem_column_needed")
    if mapping.steps is None and needs_steps:
        return Message("steps_column_needed")
    for column in columns_of(mapping):
        if all(cell_of(row, column) is None for row in sample.rows) and column not in sample.columns:
            return Message("no_such_column", column=column)
    return ""


def rows(record: Record, neutral: NeutralPolicy) -> Iterator[Row]:
    """A row of COLUMNS for each label, or one for a solution without labels.

    Of several alternatives at a position, a row has the one on its label's path.
    """
    labels: list[RecordAnnotation | None] = [*record.annotations] or [None]
    return (_row(record, label) for label in labels)


def _row(record: Record, label: RecordAnnotation | None) -> Row:
    def given(field: str) -> Any:
        return as_imported(record, label, field) if label else getattr(record, field)

    at = steps_along(record, label)
    detail = label.source_detail if label else {}
    return {
        **{field: given(field) for field in _AS_IMPORTED},
        "steps": [step.text for step in at],
        "step_kinds": [step.kind for step in at] if any(step.kind != "reasoning" for step in at) else None,
        "ratings": label and _ratings(at),
        "first_error": label and label.first_error,
        "source_kind": label and label.source_kind,
        "source_name": label and label.source_name,
        "source_policy": policy if isinstance(policy := detail.get("policy"), str) else None,
        "source_rollouts": rollouts if type(rollouts := detail.get("rollouts")) is int else None,
        "annotator": label and label.annotator,
        "revision": label and label.revision,
        "lane": label.lane or None if label else None,
        "generation": label and label.generation,
        "inclusion_probability": label and label.inclusion and label.inclusion.probability,
        "inclusion_weight": label and label.inclusion and label.inclusion.weight,
        "guidelines": label and label.guidelines,
        "finish_reason": label and label.finish_reason,
        "domain": record.domain,
        "source_group": record.source_group,
        "split": record.split or None,
        **{f"made_by_{field}": value for field, value in _made_by(given("provenance")).items()},
        "extra": _json(given("extra")),
    }


def _made_by(provenance: Provenance | None) -> Row:
    """The fields as cells. A seed may have more digits than a number in Parquet, so it is text."""
    fields = msgspec.structs.asdict(provenance or Provenance())
    seed = None if fields["seed"] is None else str(fields["seed"])
    return fields | {"seed": seed, "settings": _json(fields["settings"])}


def _json(value: dict[str, Any]) -> str | None:
    return msgspec.json.encode(value).decode() if value else None


_AS_IMPORTED = (
    "problem", "final_answer", "final_answer_correct", "reference_answer", "reference_solution", "generator",
    "external_id", "outcome_source",
)  # fmt: skip


def _ratings(steps: list[Step]) -> list[int | None]:
    """The ratings of all steps; a label that ends with an error ends there, another has None for unrated last steps."""
    ratings = [step.rating for step in steps]
    while ratings and ratings[-1] is None:
        ratings.pop()
    return ratings if ratings and ratings[-1] == -1 else ratings + [None] * (len(steps) - len(ratings))


def is_csv(head: bytes) -> bool:
    """Whether a table with this beginning can only be CSV."""
    return not head.startswith(parquet_rows.MAGIC) and head.removeprefix(BOM).lstrip()[:1] not in (b"{", b"[")


def csv_delimiter(head: bytes) -> str:
    """The detected delimiter of a table with this beginning, "" if it is not CSV."""
    return csv_rows.delimiter_of([head]) if is_csv(head) else ""


def raw_rows(stream: BinaryIO, head: bytes, mapping: Mapping, skip: int) -> Iterator[Raw]:
    """The JSON of each row of a stream whose beginning `head` was already read, after the first `skip`."""
    if not is_csv(head):
        return raw_records(stream, head, skip)
    return csv_rows.raw_rows(
        pieces_of(stream, head),
        longest=MAX_RECORD_BYTES,
        delimiter=mapping.delimiter,
        guarded=mapping.guarded,
        skip=skip,
    )


def _objects(raws: Iterable[Raw]) -> Iterator[Row]:
    """The readable rows, decoded."""
    for _, raw in raws:
        try:
            row = msgspec.json.decode(raw) if isinstance(raw, bytes) else None
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(row, dict):
            yield row


def _rewound(stream: BinaryIO) -> BinaryIO:
    stream.seek(0)
    return stream


def _encode_csv(rows: Iterable[Row], about: About) -> Iterator[bytes]:
    return csv_rows.write_rows(rows, COLUMNS)


CSV = Exporter(
    "csv", "CSV", rows, _encode_csv, "csv", version="2", not_held=ALONG_PATH, nameless=False, by_structure=always
)
FORMATS.add(TABLE, Format(TABLE, Message("format_table"), read, exporter=CSV), module=__name__)
exporter(
    "parquet",
    title="Parquet",
    suffix="parquet",
    encode=encode_parquet(schema),
    version="2",
    not_held=ALONG_PATH,
    nameless=False,
    by_structure=always,
)(rows)
