"""The body of an import: a stored file into the project, in chunks of one transaction each.

A chunk's rows and the job's progress are committed together, so a killed import resumes after the last complete chunk
and adds nothing twice.
"""

import logging
from collections.abc import Callable
from contextlib import closing

from django.db import DataError, IntegrityError, connection, transaction

from annotation.core.collecting import collecting_seldom
from annotation.core.errors import DomainError
from annotation.core.lifecycle import raise_if_cancelled, run_job, save_progress
from annotation.files.chunks import Chunk, chunks
from annotation.files.identity import Identified, identify
from annotation.files.joining import join_labels
from annotation.files.opening import open_content
from annotation.files.reading_ahead import read_ahead
from annotation.files.rejections import Original, originals, store_rejections
from annotation.files.store import Counts, store_identified
from annotation.files.warnings import add_warnings, uneven_splits
from annotation.models import ImportJob
from prm.formats.raw import EXCERPT
from prm.formats.record import Rejection
from prm.formats.table import reader_of
from prm.messages import Message

log = logging.getLogger(__name__)


def run_import(job_id: int, *, on_progress: Callable[[ImportJob], None] = lambda job: None) -> None:
    """Run or resume an import to the end of its file; `on_progress` is called after each chunk.

    Does nothing if another worker has the job, or if it has ended. A broken file fails the job with a reason; after a
    lost database connection the sweep re-enqueues it.
    """
    job = run_job(ImportJob, job_id, lambda job: _import_file(job, on_progress))
    if job is not None:
        on_progress(job)


def _import_file(job: ImportJob, on_progress: Callable[[ImportJob], None]) -> None:
    options = job.import_options
    mapping = options.mapping
    try:
        with open_content(job.path) as content, originals(job.path, job.format, mapping) as original:
            items = reader_of(job.format, mapping)(content.stream, skip=job.done_records)
            unread = chunks(items, content, first=job.done_records, splitting=job.splitting, options=options)
            with closing(read_ahead(unread)) as ready, collecting_seldom(every=16) as collect:
                for chunk in ready:
                    _commit(job, chunk, original)
                    on_progress(job)
                    collect()
    except OSError as error:
        reason = Message("file_not_readable", filename=job.filename, strerror=error.strerror or error)
        raise DomainError(reason, code="file_unreadable") from error
    job.done_bytes = job.total_bytes  # a format that is read from the end, such as Parquet, stops elsewhere
    job.warnings |= uneven_splits(job.project)
    save_progress(job, "done_bytes", "warnings")


@transaction.atomic
def _commit(job: ImportJob, chunk: Chunk, original: Original) -> None:
    """Store a chunk together with the progress of the job. Raises Cancelled."""
    with connection.cursor() as cursor:
        # A crash of the database can undo the chunk, but only together with its progress, so it is imported again.
        cursor.execute("SET LOCAL synchronous_commit = off")
    raise_if_cancelled(job)
    counts, refused = _store(job, chunk)
    rejected = sorted([*chunk.rejected, *refused], key=lambda rejection: rejection[0])
    store_rejections(job, rejected, original)
    job.done_records += chunk.size
    job.done_bytes = chunk.done_bytes
    job.accepted += counts.accepted
    job.duplicates += counts.duplicates
    job.annotations += counts.annotations
    job.rejected += len(rejected)
    job.warnings = add_warnings(job.warnings, chunk.warnings, counts)
    save_progress(job, "done_records", "done_bytes", "accepted", "duplicates", "annotations", "rejected", "warnings")


def _joined(job: ImportJob, chunk: Chunk) -> tuple[list[tuple[int, int, Identified]], list[tuple[int, Rejection]]]:
    """The chunk's records, with labels joined to their solutions, and the rejected labels."""
    items = join_labels(job.project, [(line, record) for _, line, record in chunk.accepted])
    records, rejected = list[tuple[int, int, Identified]](), list[tuple[int, Rejection]]()
    for (number, line, record), identified, item in zip(chunk.accepted, chunk.identified, items, strict=True):
        if isinstance(item, Rejection):
            rejected.append((number, item))
        else:
            records.append((number, line, identified if item is record else identify(item)))
    return records, rejected


def _store(job: ImportJob, chunk: Chunk) -> tuple[Counts, list[tuple[int, Rejection]]]:
    """Store the records; if the database rejects the chunk, store each alone to find the bad one."""
    records, refused = _joined(job, chunk)
    try:
        with transaction.atomic():
            identified = [record for _, _, record in records]
            return store_identified(project=job.project, records=identified, job=job), refused
    except (DataError, IntegrityError):
        log.warning("Import %s: the database rejects a chunk after record %s.", job.pk, job.done_records)
    counts = Counts()
    for number, line, record in records:
        try:
            with transaction.atomic():
                counts += store_identified(project=job.project, records=[record], job=job)
        except (DataError, IntegrityError) as error:
            reason = Message("database_refused", error=str(error).splitlines()[0])
            refused.append((number, Rejection(line=line, reason=reason, excerpt=record.record.problem[:EXCERPT])))
    return counts, refused
