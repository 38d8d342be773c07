"""Snapshots: immutable files of records, named by the hash of their content."""

import hashlib
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from datetime import datetime
from io import BufferedReader
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import msgspec
import structlog
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit, storage
from annotation.core.collecting import collecting_seldom
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import require_role
from annotation.core.replica import read_current
from annotation.labels.consensus.fits import choose_fit
from annotation.labels.datasets.filters import SnapshotFilters, parse_filters
from annotation.labels.datasets.graded import graded_records
from annotation.labels.datasets.record_stream import one_moment, stream_records
from annotation.labels.datasets.tally import Tally
from annotation.models import AuditEntry, ConsensusFit, Membership, Project, Snapshot
from prm.formats.raw import join_pieces
from prm.formats.record import Record
from prm.messages import Message

CHANGED = "snapshot.changed"
COLLECT_EVERY = 4000  # solutions

log = structlog.get_logger(__name__)


def create_snapshot(
    *, by: User | None, project: Project, filters: dict[str, Any], on_record: Callable[[int], None] = lambda done: None
) -> Snapshot:
    """Make a snapshot of the project's labels that pass the filters (see SnapshotFilters).

    The same content with the same filters gives the same snapshot. Its consensus is that of the fit which the filters
    name, or of one that has seen the labels as they are now. Graded solutions are in a file of their own. `by` is None
    for the platform itself. `on_record` is called with the number of solutions so far, inside the transaction that
    reads them; if it raises, nothing is made.

    Raises Forbidden, DomainError (`invalid_filters`, `nothing_to_snapshot`), and as `choose_fit`.
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    parsed = parse_filters(filters)
    fit = choose_fit(by=by, project=project, filters=parsed)
    sha256, graded_sha256, counts = read_current(lambda: _write_files(project, parsed, fit, on_record))
    with transaction.atomic():
        snapshot, created = Snapshot.objects.get_or_create(
            project=project,
            sha256=sha256,
            graded_sha256=graded_sha256,
            filters=msgspec.to_builtins(parsed),
            defaults={"path": _name(sha256), "counts": counts, "fit": fit, "created_by": by},
        )
        if created:
            after = {"sha256": sha256, "filters": snapshot.filters, "solutions": counts["solutions"]}
            audit.record(by=by, action="snapshot.create", target=snapshot, after=after)
    return snapshot


def read_snapshot(snapshot: Snapshot) -> Iterator[Record]:
    """Stream the records of a snapshot. Raises as `open_snapshot`, before the first record."""
    return _records(open_snapshot(snapshot))


def read_graded(snapshot: Snapshot) -> Iterator[Record]:
    """Stream the graded solutions that the snapshot lists, without labels. Raises as `open_snapshot`."""
    sha256 = snapshot.graded_sha256
    return _records(_open(snapshot, _name(sha256), sha256)) if sha256 else iter(())


def open_snapshot(snapshot: Snapshot) -> BinaryIO:
    """The snapshot's file of labelled solutions, opened after its hash is verified.

    Raises Missing (`snapshot_file_missing`), Conflict (`snapshot_file_changed`, which is also logged and recorded for
    the managers).
    """
    return _open(snapshot, snapshot.path, snapshot.sha256)


def size_of_snapshot(snapshot: Snapshot) -> int | None:
    """The size of a snapshot's file in bytes; None if the file is missing."""
    return storage.sizes(_key(snapshot.path)).get("")


def changed_snapshots(project: Project, *, since: datetime) -> int:
    """The number of snapshots whose file did not match its hash since then."""
    entries = AuditEntry.objects.filter(project=project, action=CHANGED, at__gte=since)
    return entries.values("target_id").distinct().count()


def _write_files(
    project: Project, filters: SnapshotFilters, fit: ConsensusFit | None, on_record: Callable[[int], None]
) -> tuple[str, str, dict[str, Any]]:
    """Write the files of a snapshot; returns their hashes, "" without graded solutions, and the counts."""
    tally, sides = Tally(), Counter[str]()
    with (
        one_moment(),
        collecting_seldom(every=COLLECT_EVERY) as collect,
        closing(stream_records(project=project, filters=filters, fit=fit)) as stream,
    ):
        sha256 = _write(tally.of(_watched(stream, collect, on_record)))
        if not sha256:
            raise DomainError(Message("nothing_to_snapshot"))
        listed = graded_records(project, filters) if filters.graded or filters.estimates else ()
        graded_sha256 = _write(_by_side(listed, sides))
    counts = tally.counts()
    if graded_sha256 and filters.graded:
        counts["graded"] = {"right": sides["right"], "wrong": sides["wrong"]}
    if sides["estimated"]:
        counts["estimated"] = sides["estimated"]
    return sha256, graded_sha256, counts


def _watched(
    records: Iterable[Record], collect: Callable[[], None], on_record: Callable[[int], None]
) -> Iterator[Record]:
    for done, record in enumerate(records, start=1):
        collect()
        on_record(done)
        yield record


def _by_side(records: Iterable[Record], sides: Counter[str]) -> Iterator[Record]:
    """Yield the listed records and count them by their final answer, those with Monte Carlo estimates apart."""
    for record in records:
        side = "right" if record.final_answer_correct else "wrong"
        sides["estimated" if record.annotations else side] += 1
        yield record


def _open(snapshot: Snapshot, name: str, expected: str) -> BufferedReader:
    """A file of the snapshot, opened after its hash is verified. Raises as `open_snapshot`."""
    try:
        file = storage.open_stored(_key(name))
    except FileNotFoundError:
        raise Missing(Message("snapshot_file_missing", snapshot=snapshot, key=_key(name))) from None
    sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    if sha256 != expected:
        file.close()
        _report_change(snapshot, expected, sha256)
        raise Conflict(
            Message("snapshot_file_changed", snapshot=snapshot, sha256=sha256[:12], path=name),
        )
    file.seek(0)
    return file


def _report_change(snapshot: Snapshot, expected: str, found: str) -> None:
    log.error(
        "snapshot_file_changed",
        project=snapshot.project.slug,
        snapshot=snapshot.pk,
        expected=expected,
        found=found,
    )
    audit.record(by=None, action=CHANGED, target=snapshot, before={"sha256": expected}, after={"sha256": found})


def _records(file: BinaryIO) -> Iterator[Record]:
    decoder = msgspec.json.Decoder(Record)
    with file:
        for line in file:
            yield decoder.decode(line)


def _name(sha256: str) -> str:
    return f"{sha256}.jsonl"


def _key(name: str) -> str:
    return f"snapshots/{name}"


def _write(records: Iterator[Record]) -> str:
    """Write the records to a file that appears only when it is complete; returns its SHA-256, which names it.

    Without a record it writes nothing and returns "".
    """
    first = next(records, None)
    if first is None:
        return ""
    root = storage.path_of("snapshots")
    root.mkdir(parents=True, exist_ok=True)
    digest = hashlib.sha256()
    encoder = msgspec.json.Encoder()
    handle, partial = tempfile.mkstemp(dir=root, suffix=".partial")
    try:
        with os.fdopen(handle, "wb") as out:
            for piece in join_pieces(encoder.encode(record) + b"\n" for record in chain([first], records)):
                digest.update(piece)
                out.write(piece)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(partial, 0o440)
        os.replace(partial, root / _name(digest.hexdigest()))
    finally:
        Path(partial).unlink(missing_ok=True)
    storage.publish(_key(_name(digest.hexdigest())))
    return digest.hexdigest()
