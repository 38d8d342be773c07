"""Snapshots: frozen files of records, named by their content."""

import hashlib
import os
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction

from annotation import audit
from annotation.datasets.filters import parse_filters
from annotation.datasets.records import stream_records
from annotation.datasets.tally import Tally
from annotation.errors import DomainError, Missing
from annotation.formats.record import Record
from annotation.membership.access import require_role
from annotation.models import Membership, Project, Snapshot
from annotation.wording import said


def create_snapshot(*, by: User | None, project: Project, filters: dict[str, Any]) -> Snapshot:
    """Freeze the project's labels that the filters (see SnapshotFilters) ask for.

    The same content asked for in the same way is the same snapshot. `by` is None for the platform itself.
    Raises Forbidden, DomainError (`invalid_filters`, `nothing_to_snapshot`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    asked = parse_filters(filters)
    tally = Tally()
    records = tally.of(stream_records(project=project, filters=asked))
    sha256 = _write(records)
    counts = tally.counts()
    if not counts["solutions"]:
        raise DomainError("nothing_to_snapshot", said("No label in this project matches these filters."))
    with transaction.atomic():
        snapshot, created = Snapshot.objects.get_or_create(
            project=project,
            sha256=sha256,
            filters=msgspec.to_builtins(asked),
            defaults={"path": _name(sha256), "counts": counts, "created_by": by},
        )
        if created:
            after = {"sha256": sha256, "filters": snapshot.filters, "solutions": counts["solutions"]}
            audit.record(by=by, action="snapshot.create", target=snapshot, project=project, after=after)
    return snapshot


def read_snapshot(snapshot: Snapshot) -> Iterator[Record]:
    """Stream the records of a snapshot. Raises Missing (`snapshot_file_missing`) where its file is gone."""
    path = snapshot_file(snapshot)
    return _records(path)


def snapshot_file(snapshot: Snapshot) -> Path:
    """Raises Missing (`snapshot_file_missing`)."""
    path = settings.SNAPSHOT_ROOT / snapshot.path
    if not path.is_file():
        raise Missing(
            "snapshot_file_missing",
            said(
                "The file of {snapshot} is gone from {snapshot_root}.",
                snapshot=snapshot,
                snapshot_root=settings.SNAPSHOT_ROOT,
            ),
        )
    return path


def _records(path: Path) -> Iterator[Record]:
    decoder = msgspec.json.Decoder(Record)
    with path.open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)


def _name(sha256: str) -> str:
    return f"{sha256}.jsonl"


def _write(records: Iterable[Record]) -> str:
    """Write the records to a file that appears whole, under the name of its SHA-256, or not at all."""
    root: Path = settings.SNAPSHOT_ROOT
    root.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    encoder = msgspec.json.Encoder()
    handle, partial = tempfile.mkstemp(dir=root, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as out:
            for record in records:
                line = encoder.encode(record) + b"\n"
                digest.update(line)
                out.write(line)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(partial, 0o440)
        os.replace(partial, root / _name(digest.hexdigest()))
    finally:
        Path(partial).unlink(missing_ok=True)
    return digest.hexdigest()
