"""Exports a snapshot in a file format."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from typing import Any, BinaryIO, cast

import msgspec

from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshots import open_snapshot, read_snapshot
from annotation.models import Snapshot
from prm.exporters import EXPORTERS, RECORDS
from prm.formats.raw import CHUNK
from prm.vocabulary import NeutralPolicy


def export_snapshot(
    snapshot: Snapshot, format: str, *, neutral: str = "positive", splits: Collection[str] | None = None
) -> Iterator[bytes]:
    """Stream the snapshot in a format: `records` are its own lines, with nothing left out.

    `trl` and `trl_parquet` are TRL's stepwise supervision, `csv` and `parquet` a table with a row for each label.
    `neutral` maps neutral steps in the TRL formats, which have two classes; the others have all three. The file has the
    solutions of `splits`. By default it has every split; the TRL formats, whose lines have no split, have the splits in
    the snapshot's filters, else the pool only.

    Raises as `plan_export`, DomainError (`mixed_kinds`, `empty_export`), and as `open_snapshot`.
    """
    plan = plan_export(snapshot, format, neutral=neutral, splits=splits)
    if plan.refusal:
        raise plan.refusal
    if format == RECORDS and not plan.left_out:
        return _pieces(open_snapshot(snapshot))
    records = (record for record in read_snapshot(snapshot) if record.split in plan.splits)
    return EXPORTERS.get(format).write(records, cast(NeutralPolicy, neutral))


def export_name(snapshot: Snapshot, format: str) -> str:
    """A file name with the project, the snapshot and the format."""
    return f"{snapshot.project.slug}-{snapshot.sha256[:12]}-{format}.{EXPORTERS.get(format).suffix}"


def export_tag(snapshot: Snapshot, format: str, options: Mapping[str, Any]) -> str:
    """A tag of an export's bytes: the same content, options and version of the writer give the same tag.

    An unknown format has a tag too; `export_snapshot` rejects it.
    """
    version = EXPORTERS.get(format).version if format in EXPORTERS else None
    stated = [snapshot.pk, snapshot.sha256, format, version, sorted(options.items())]
    return hashlib.sha256(msgspec.json.encode(stated)).hexdigest()


def content_type(format: str) -> str:
    return EXPORTERS.get(format).content_type


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        yield from iter(lambda: file.read(CHUNK), b"")
