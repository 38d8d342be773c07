"""The body of an import: a stored file into the project, chunk by chunk, each one transaction.

A chunk's rows and the job's progress are committed together, so an import that was killed goes on behind
the last whole chunk and adds nothing twice.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from annotation import audit
from annotation.formats.reading import EXCERPT, Numbered
from annotation.formats.record import Record, Rejection
from annotation.formats.registry import reader_of
from annotation.intake.opening import open_content
from annotation.intake.preparing import prepared
from annotation.intake.store import Counts, store_chunk
from annotation.jobs import sole_worker
from annotation.models import ImportJob, ImportRejection

CHUNK_RECORDS = 500
CHUNK_BYTES = 8 * 1024 * 1024
MAX_REJECTIONS = 10_000  # kept with their reason; the rest is counted
LOCK = 0x5374_6570 + 1  # the class of the advisory locks taken here; the key is the job

log = logging.getLogger(__name__)


def run_import(job_id: int, *, on_progress: Callable[[ImportJob], None] = lambda job: None) -> None:
    """Take the file of a job in, from where it stands to its end; `on_progress` is called after each chunk.

    Does nothing if another worker is at it, or if it has ended. What goes wrong with the file ends the
    job as failed and says why; a lost database leaves it to the sweep.
    """
    with sole_worker(LOCK, job_id) as alone:
        job = _begin(job_id) if alone else None
        if job is None:
            return
        try:
            _take_in(job, on_progress)
        except (OperationalError, InterfaceError):
            raise
        except OSError as error:
            end_import(job, ImportJob.State.FAILED, f"{job.filename} cannot be read: {error.strerror or error}.")
        except Exception as error:
            end_import(job, ImportJob.State.FAILED, f"Unexpected, after record {job.done_records}: {error!r}.")
            raise
        on_progress(job)


@transaction.atomic
def _begin(job_id: int) -> ImportJob | None:
    job = ImportJob.objects.select_for_update().get(pk=job_id)
    if job.state not in ImportJob.LIVE:
        return None
    now = timezone.now()
    job.state, job.heartbeat_at, job.started_at = ImportJob.State.RUNNING, now, job.started_at or now
    job.save(update_fields=["state", "heartbeat_at", "started_at"])
    return job


def _take_in(job: ImportJob, on_progress: Callable[[ImportJob], None]) -> None:
    chunk: list[Numbered] = []
    with open_content(Path(job.path)) as content:
        read = reader_of(job.format, job.import_options.mapping)
        for numbered in read(content.stream, skip=job.done_records):
            chunk.append(numbered)
            if len(chunk) == CHUNK_RECORDS or content.done_bytes - job.done_bytes > CHUNK_BYTES:
                if not _commit(job, chunk, content.done_bytes):
                    return
                on_progress(job)
                chunk = []
    if _commit(job, chunk, job.total_bytes):
        end_import(job, ImportJob.State.DONE)


@transaction.atomic
def _commit(job: ImportJob, chunk: list[Numbered], done_bytes: int) -> bool:
    """Store a chunk with the progress it makes; False where the job was cancelled."""
    if ImportJob.objects.select_for_update().values_list("cancel_requested", flat=True).get(pk=job.pk):
        end_import(job, ImportJob.State.CANCELLED)
        return False
    sorted_out = _sort_out(job, chunk)
    counts, refused = _store(job, sorted_out.taken)
    rejections = sorted([*sorted_out.rejections, *refused], key=lambda rejection: rejection.line)
    kept = rejections[: max(0, MAX_REJECTIONS - job.rejected)]
    ImportRejection.objects.bulk_create(
        ImportRejection(job=job, line=r.line, field=r.field[:200], reason=r.reason, excerpt=r.excerpt) for r in kept
    )
    job.done_records += len(chunk)
    job.done_bytes = done_bytes
    job.accepted += counts.accepted
    job.duplicates += counts.duplicates
    job.annotations += counts.annotations
    job.rejected += len(rejections)
    job.heartbeat_at = timezone.now()
    job.save(
        update_fields=[
            "done_records", "done_bytes", "accepted", "duplicates", "annotations", "rejected", "heartbeat_at"
        ]
    )  # fmt: skip
    return True


@dataclass
class _SortedOut:
    taken: list[tuple[int, Record]]
    rejections: list[Rejection]


def _sort_out(job: ImportJob, chunk: list[Numbered]) -> _SortedOut:
    sorted_out = _SortedOut([], [])
    for line, read in chunk:
        item = prepared(line, read, job.decomposition)
        if isinstance(item, Rejection):
            sorted_out.rejections.append(item)
        else:
            sorted_out.taken.append((line, item))
    return sorted_out


def _store(job: ImportJob, taken: list[tuple[int, Record]]) -> tuple[Counts, list[Rejection]]:
    """Store the records; where the database refuses the chunk, each by itself, to find the one it refuses."""
    try:
        with transaction.atomic():
            return store_chunk(project=job.project, records=[record for _, record in taken], job=job), []
    except (DataError, IntegrityError):
        log.warning("Import %s: the database refuses a chunk behind record %s.", job.pk, job.done_records)
    counts, refused = Counts(), []
    for line, record in taken:
        try:
            with transaction.atomic():
                counts += store_chunk(project=job.project, records=[record], job=job)
        except (DataError, IntegrityError) as error:
            reason = f"the database refuses it: {str(error).splitlines()[0]}"
            refused.append(Rejection(line=line, reason=reason, excerpt=record.problem[:EXCERPT]))
    return counts, refused


@transaction.atomic
def end_import(job: ImportJob, state: ImportJob.State, error: str = "") -> None:
    """Note how a job ended; its uploaded file is dropped, unless it failed."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    job.save(update_fields=["state", "error", "finished_at"])
    counts = {name: getattr(job, name) for name in ("accepted", "duplicates", "rejected", "annotations")}
    audit.record(
        by=job.requested_by,
        action=f"import.{state}",
        target=job,
        project=job.project,
        after=counts | ({"error": error} if error else {}),
    )
    if state != ImportJob.State.FAILED:
        transaction.on_commit(lambda: _drop_upload(job))


def _drop_upload(job: ImportJob) -> None:
    path = Path(job.path)
    if path.is_relative_to(settings.UPLOAD_ROOT):
        path.unlink(missing_ok=True)
