"""Exports a snapshot in a file format."""

import hashlib
from collections.abc import Collection, Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, Literal, cast

import msgspec
from django.contrib.auth.models import User

from annotation.core import audit
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshots import open_snapshot, read_snapshot
from annotation.models import Snapshot
from prm.exporters import EXPORTERS
from prm.formats.raw import CHUNK, join_pieces
from prm.formats.registry import RECORDS
from prm.vocabulary import NeutralPolicy

Via = Literal["page", "api", "command", "job", "schedule"]


class _Split(msgspec.Struct):
    split: str = ""


def export_snapshot(
    snapshot: Snapshot,
    format: str,
    *,
    neutral: str = "positive",
    splits: Collection[str] | None = None,
    mixed_kinds: str = "refuse",
) -> Iterator[bytes]:
    """Stream the snapshot in a format of `prm.exporters`: `records` are its own lines, byte for byte.

    `neutral` maps neutral steps in formats with two classes. The file has the solutions of `splits`. By default it has
    every split; a format whose lines have no split has the splits in the snapshot's filters, else the pool only. Such
    lines do not say the kind of their label either, so labels of several kinds need `mixed_kinds` "allow".

    Raises as `plan_export`, DomainError (`mixed_kinds`, `empty_export`), and as `open_snapshot`.
    """
    plan = plan_export(snapshot, format, neutral=neutral, splits=splits, mixed_kinds=mixed_kinds)
    if plan.refusal:
        raise plan.refusal
    if format == RECORDS:
        file = open_snapshot(snapshot)
        return join_pieces(_lines(file, plan.splits)) if plan.left_out else _pieces(file)
    card = partial(dataset_card, snapshot, neutral=neutral, splits=splits, mixed_kinds=mixed_kinds)
    records = (record for record in read_snapshot(snapshot) if record.split in plan.splits)
    return EXPORTERS.get(format).write(records, cast(NeutralPolicy, neutral), card=card)


def deliver_snapshot(
    *, by: User | None, snapshot: Snapshot, format: str, via: Via, target: str = "", **options: Any
) -> Iterator[bytes]:
    """As `export_snapshot` with these `options`, for a reader outside of the platform: the audit log has an entry.

    `via` says how the file leaves, and `target` where it is written.
    """
    content = export_snapshot(snapshot, format, **options)
    after = {"format": format, "via": via, "sha256": snapshot.sha256} | ({"target": target} if target else {})
    stated = {name: value for name, value in options.items() if value}
    audit.record(by=by, action="snapshot.export", target=snapshot, after=after | stated)
    return content


def export_name(snapshot: Snapshot, format: str) -> str:
    """A file name with the project, the snapshot and the format."""
    return f"{snapshot.project.slug}-{snapshot.sha256[:12]}-{format}.{EXPORTERS.get(format).suffix}"


def export_tag(snapshot: Snapshot, format: str, options: Mapping[str, Any]) -> str:
    """A tag of an export's bytes: the same content, options, version of the writer and card in it give the same tag.

    An unknown format has a tag too; `export_snapshot` rejects it.
    """
    exporter = EXPORTERS.get(format) if format in EXPORTERS else None
    stated = [snapshot.pk, snapshot.sha256, format, exporter and exporter.version, sorted(options.items())]
    if exporter and exporter.has_card:
        stated.append(dataset_card(snapshot, **options))
    return hashlib.sha256(msgspec.json.encode(stated)).hexdigest()


def content_type(format: str) -> str:
    return EXPORTERS.get(format).content_type


def _pieces(file: BinaryIO) -> Iterator[bytes]:
    with file:
        yield from iter(lambda: file.read(CHUNK), b"")


def _lines(file: BinaryIO, splits: Collection[str]) -> Iterator[bytes]:
    decoder = msgspec.json.Decoder(_Split)
    with file:
        yield from (line for line in file if decoder.decode(line).split in splits)
