"""The body of an import: a stored file into the project, chunk by chunk, each one transaction.

A chunk's rows and the job's progress are committed together, so an import that was killed goes on behind
the last whole chunk and adds nothing twice.
"""

import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.conf import settings
from django.db import DataError, IntegrityError, InterfaceError, OperationalError, connection, transaction
from django.utils import timezone

from annotation import audit
from annotation.formats.reading import EXCERPT
from annotation.formats.record import Rejection
from annotation.formats.registry import reader_of
from annotation.intake.ahead import ahead
from annotation.intake.chunks import Chunk, chunks
from annotation.intake.opening import open_content
from annotation.intake.rejections import Original, keep_rejections, originals
from annotation.intake.store import Counts, store_chunk
from annotation.jobs import enqueue, sole_worker
from annotation.models import ImportJob

TASK = "intake.run"
COLLECT_EVERY = 16  # chunks
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
    mapping = job.import_options.mapping
    with open_content(job.path) as content, originals(job.path, job.format, mapping) as original:
        items = reader_of(job.format, mapping)(content.stream, skip=job.done_records)
        coming = chunks(items, content, first=job.done_records, decomposition=job.decomposition)
        with closing(ahead(coming)) as ready, _collecting_seldom() as collect:
            for chunk in ready:
                if not _commit(job, chunk, original):
                    return
                on_progress(job)
                collect()
    end_import(job, ImportJob.State.DONE)


@contextmanager
def _collecting_seldom() -> Iterator[Callable[[], None]]:
    """Garbage is looked for after every so many chunks, and among what came since only: a third of the work saved."""
    done = 0

    def collect() -> None:
        nonlocal done
        done += 1
        if done % COLLECT_EVERY == 0:
            gc.collect()

    gc.freeze()
    gc.disable()
    try:
        yield collect
    finally:
        gc.enable()
        gc.unfreeze()


@transaction.atomic
def _commit(job: ImportJob, chunk: Chunk, original: Original) -> bool:
    """Store a chunk with the progress it makes; False where the job was cancelled."""
    with connection.cursor() as cursor:
        # A chunk that a crash of the database undoes is undone with its progress, and taken in again.
        cursor.execute("SET LOCAL synchronous_commit = off")
    if ImportJob.objects.select_for_update().values_list("cancel_requested", flat=True).get(pk=job.pk):
        end_import(job, ImportJob.State.CANCELLED)
        return False
    counts, refused = _store(job, chunk)
    rejected = sorted([*chunk.rejected, *refused], key=lambda rejection: rejection[0])
    keep_rejections(job, rejected, original)
    job.done_records += chunk.size
    job.done_bytes = chunk.done_bytes
    job.accepted += counts.accepted
    job.duplicates += counts.duplicates
    job.annotations += counts.annotations
    job.rejected += len(rejected)
    job.heartbeat_at = timezone.now()
    job.save(
        update_fields=[
            "done_records", "done_bytes", "accepted", "duplicates", "annotations", "rejected", "heartbeat_at"
        ]
    )  # fmt: skip
    return True


def _store(job: ImportJob, chunk: Chunk) -> tuple[Counts, list[tuple[int, Rejection]]]:
    """Store the records; where the database refuses the chunk, each by itself, to find the one it refuses."""
    try:
        with transaction.atomic():
            return store_chunk(project=job.project, records=[record for _, _, record in chunk.taken], job=job), []
    except (DataError, IntegrityError):
        log.warning("Import %s: the database refuses a chunk behind record %s.", job.pk, job.done_records)
    counts, refused = Counts(), []
    for number, line, record in chunk.taken:
        try:
            with transaction.atomic():
                counts += store_chunk(project=job.project, records=[record], job=job)
        except (DataError, IntegrityError) as error:
            reason = f"the database refuses it: {str(error).splitlines()[0]}"
            refused.append((number, Rejection(line=line, reason=reason, excerpt=record.problem[:EXCERPT])))
    return counts, refused


@transaction.atomic
def end_import(job: ImportJob, state: ImportJob.State, error: str = "") -> None:
    """Note how a job ended; its uploaded file is dropped, unless it failed."""
    job.state, job.error, job.finished_at = state, error, timezone.now()
    if state == ImportJob.State.DONE:
        job.done_bytes = job.total_bytes  # a file that is read from its end on, as Parquet, stops elsewhere
    job.save(update_fields=["state", "error", "finished_at", "done_bytes"])
    counts = {name: getattr(job, name) for name in ("accepted", "duplicates", "rejected", "annotations")}
    audit.record(
        by=job.requested_by,
        action=f"import.{state}",
        target=job,
        project=job.project,
        after=counts | ({"error": error} if error else {}),
    )
    if job.group and (following := job.group.jobs.filter(state=ImportJob.State.QUEUED).order_by("pk").first()):
        enqueue(TASK, following.pk)
    if state != ImportJob.State.FAILED:
        transaction.on_commit(lambda: _drop_upload(job))


def _drop_upload(job: ImportJob) -> None:
    path = Path(job.path)
    if path.is_relative_to(settings.UPLOAD_ROOT):
        path.unlink(missing_ok=True)
