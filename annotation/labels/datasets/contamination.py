"""Contamination checks: whether a snapshot overlaps with a benchmark, and whether its problems repeat each other."""

import shutil
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.core.lifecycle import beat, run_job, send
from annotation.core.membership.access import require_role
from annotation.files.opening import open_content
from annotation.files.places import find_files, place_below
from annotation.files.uploads import take_uploads
from annotation.labels.datasets.snapshots import read_graded, read_snapshot
from annotation.models import ContaminationCheck, Membership, Project, Snapshot
from prm.contamination import BenchmarkText, ContaminationReport, Item, check_contamination, item_of_record
from prm.errors import DataError
from prm.messages import Message


class BenchmarkFile(NamedTuple):
    """A benchmark's file: its place and its name."""

    place: str
    filename: str


@transaction.atomic
def take_upload(*, by: User, project: Project, upload: uuid.UUID) -> BenchmarkFile:
    """A complete upload of the caller, used up by this. Raises as `take_uploads`."""
    [file] = take_uploads(by=by, project=project, uploads=[upload])
    return BenchmarkFile(*file)


def find_benchmark(root: str, path: str) -> BenchmarkFile:
    """The file below an import root. Raises as `place_below` and `find_files`, DomainError (`too_many_files`)."""
    files = find_files(place_below(root, path), below=root)
    if len(files) > 1:
        raise DomainError(Message("too_many_files", n=len(files), place=path, max_files=1))
    return BenchmarkFile(files[0], Path(files[0]).name)


@transaction.atomic
def request_check(*, by: User, snapshot: Snapshot, benchmark: BenchmarkFile | None) -> ContaminationCheck:
    """Enqueue the comparison with a benchmark; without one, only near-duplicates are looked for. Raises Forbidden."""
    require_role(by, snapshot.project, Membership.Role.MANAGER)
    place, filename = benchmark or ("", "")
    check = ContaminationCheck.objects.create(
        project=snapshot.project,
        requested_by=by,
        snapshot=snapshot,
        path=place,
        filename=filename[:300],
        total=snapshot.counts["solutions"]
        + sum(snapshot.counts.get("graded", {}).values())
        + snapshot.counts.get("estimated", 0),
    )
    audit.record(by=by, action="overlap.start", target=check, after={"snapshot": snapshot.sha256, "file": filename})
    send(check)
    return check


def run_check(check_id: int) -> None:
    """Do the check. Does nothing if another worker has it, or if it has ended."""
    run_job(ContaminationCheck, check_id, _perform)


def contamination_of(snapshot: Snapshot) -> list[ContaminationReport]:
    """The finished checks of a snapshot, the latest of each benchmark file."""
    done = snapshot.contamination_checks.filter(state=ContaminationCheck.State.DONE).order_by("pk")
    reports = (msgspec.convert(check.result, ContaminationReport) for check in done)
    return list({report.sha256: report for report in reports}.values())


def _perform(check: ContaminationCheck) -> None:
    report = check_contamination(_items(check), _read_benchmark(check) if check.path else None)
    check.result = msgspec.to_builtins(report)
    check.save(update_fields=["result"])


def _items(check: ContaminationCheck) -> Iterator[Item]:
    records = chain(read_snapshot(check.snapshot), read_graded(check.snapshot))
    for done, record in enumerate(records, start=1):
        yield item_of_record(record)
        check.done = done
        beat(check)
    check.save(update_fields=["done"])


def _read_benchmark(check: ContaminationCheck) -> BenchmarkText:
    with _local_copy(check) as path:
        try:
            return BenchmarkText.read(path, name=check.filename)
        except DataError as error:
            reason = str(error).replace(str(path), check.filename)
            raise DomainError(Message("benchmark_unreadable", reason=reason)) from None


@contextmanager
def _local_copy(check: ContaminationCheck) -> Iterator[Path]:
    """The unpacked content as a file on this machine, since readers open files by path."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / (Path(check.filename).name or "benchmark")
        try:
            with open_content(check.path) as content, path.open("wb") as copy:
                shutil.copyfileobj(content.stream, copy)
        except OSError as error:
            fault = Message("path_error", path=check.filename, error=error.strerror or str(error))
            raise DomainError(Message("benchmark_unreadable", reason=fault)) from None
        yield path
