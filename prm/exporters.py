"""The registry of formats in which a snapshot can be written."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from prm.formats import parquet_rows, table
from prm.formats.prm800k import prm800k
from prm.formats.raw import json_lines
from prm.formats.record import Record
from prm.formats.trl import SCHEMA, rows_of
from prm.messages import Message
from prm.registry import Registry
from prm.vocabulary import NeutralPolicy

Write = Callable[[Iterable[Record], NeutralPolicy], Iterator[bytes]]
CONTENT_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
RECORDS = "records"  # the complete format
STEP_WISE = ("error_types", "dimensions", "accepted", "hints")


@dataclass(frozen=True)
class Exporter:
    """How records become a file with the extension `suffix`; `title` is the format's name on pages and in cards.

    `write` takes the records and the policy on neutral steps for formats with two classes. `not_held` names the counts
    of a snapshot that the format cannot express. A line of a `nameless` format has neither its split nor the kind of
    its labels, so a file has labels of one kind, and only the pool unless other splits are requested. `two_classes`
    marks TRL's lines, whose losses are counted with the snapshot. Raise `version` with every change of what is written.
    """

    write: Write
    title: str
    suffix: str
    not_held: tuple[str, ...] = ()
    nameless: bool = False
    two_classes: bool = False
    version: int = 1

    @property
    def content_type(self) -> str:
        return CONTENT_TYPES.get(self.suffix, "application/octet-stream")


EXPORTERS = Registry[Exporter]("stepmark.exporters", Message("kind_export_format"), built_in=(__name__,))


def exporter(
    name: str,
    *,
    title: str = "",
    suffix: str = "jsonl",
    not_held: tuple[str, ...] = (),
    nameless: bool = False,
    two_classes: bool = False,
) -> Callable[[Write], Write]:
    """Register the decorated function as the writer of a format; the arguments are fields of `Exporter`."""

    def decorate(write: Write) -> Write:
        entry = Exporter(write, title or name, suffix, not_held, nameless, two_classes)
        EXPORTERS.add(name, entry, module=write.__module__)
        return write

    return decorate


@exporter("prm800k", title="PRM800K", not_held=STEP_WISE)
def write_prm800k(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    return prm800k.write(records)


@exporter("trl", title="TRL", not_held=("alternatives", *STEP_WISE), nameless=True, two_classes=True)
def write_trl(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    """TRL's stepwise supervision."""
    return json_lines(rows_of(records, neutral=neutral))


@exporter(
    "trl_parquet",
    title=Message("export_trl_parquet"),
    suffix="parquet",
    not_held=("alternatives", *STEP_WISE),
    nameless=True,
    two_classes=True,
)
def write_trl_parquet(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    return parquet_rows.write_rows(rows_of(records, neutral=neutral), SCHEMA)


@exporter("csv", title="CSV", suffix="csv", not_held=("alternatives", "own_steps", *STEP_WISE))
def write_csv(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    """A table with a row for each label."""
    return table.write(records)


@exporter("parquet", title="Parquet", suffix="parquet", not_held=("alternatives", "own_steps", *STEP_WISE))
def write_parquet(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    return table.write_parquet(records)


@exporter(RECORDS, title=Message("export_records"))
def write_records(records: Iterable[Record], neutral: NeutralPolicy) -> Iterator[bytes]:
    return json_lines(records)
