"""A snapshot in a file format."""

from collections.abc import Iterator
from typing import cast, get_args

from annotation.datasets.snapshots import read_snapshot, snapshot_file
from annotation.errors import DomainError
from annotation.formats import prm800k, table, trl
from annotation.models import Snapshot
from annotation.wording import said

SUFFIXES = {
    "prm800k": "jsonl",
    "trl": "jsonl",
    "trl_parquet": "parquet",
    "csv": "csv",
    "parquet": "parquet",
    "records": "jsonl",
}
FORMATS = tuple(SUFFIXES)
CONTENT_TYPES = {
    "jsonl": "application/x-ndjson",
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
}
NEUTRAL = get_args(trl.Neutral)


def export_snapshot(snapshot: Snapshot, format: str, *, neutral: str = "positive") -> Iterator[bytes]:
    """Stream the snapshot in a format: `records` are its own lines, with nothing left out.

    `trl` and `trl_parquet` are TRL's stepwise supervision; `csv` and `parquet` a table with a row for each label.
    `neutral` says what becomes of neutral steps in the first two, which have only yes and no; the others keep all three
    classes. Raises DomainError (`unknown_format`, `unknown_policy`), Missing.
    """
    if format not in FORMATS:
        raise DomainError(
            "unknown_format",
            said("There is no export format '{format}'; there are: {known}.", format=format, known=", ".join(FORMATS)),
        )
    if neutral not in NEUTRAL:
        raise DomainError(
            "unknown_policy",
            said("Neutral steps are {known}; not '{neutral}'.", known=", ".join(NEUTRAL), neutral=neutral),
        )
    path = snapshot_file(snapshot)
    if format == "records":
        return iter(path.open("rb"))
    records = read_snapshot(snapshot)
    if format.startswith("trl"):
        write = trl.write_parquet if format == "trl_parquet" else trl.write
        return write(records, neutral=cast(trl.Neutral, neutral))
    return {"prm800k": prm800k.write, "csv": table.write, "parquet": table.write_parquet}[format](records)


def export_name(snapshot: Snapshot, format: str) -> str:
    """A file name that tells project, content and format."""
    return f"{snapshot.project.slug}-{snapshot.sha256[:12]}-{format}.{SUFFIXES[format]}"


def content_type(format: str) -> str:
    return CONTENT_TYPES[SUFFIXES[format]]
