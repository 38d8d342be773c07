"""Groups of files that are imported together, uploads or files below an operator's root, with one summary."""

import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import cancel_job, send
from annotation.core.membership.access import require_role
from annotation.files.import_jobs import create_import
from annotation.files.places import find_files, place_below
from annotation.files.uploads import find_upload, keep_file
from annotation.models import ImportGroup, ImportJob, ImportOptions, Membership, Project
from prm.messages import Message


@dataclass(frozen=True)
class Manner:
    """How the files of a group are read."""

    format: str = "auto"
    decomposition: str = "blank_lines"
    options: ImportOptions | None = None


@transaction.atomic
def import_uploads(
    *, by: User, project: Project, uploads: Sequence[uuid.UUID], manner: Manner, name: str = ""
) -> list[ImportJob]:
    """Start the import of uploaded files; several become a group under `name`.

    Raises Forbidden, Missing (`upload_not_found`), DomainError (`upload_unfinished`), and for one file as
    `create_import`, which leaves the upload in place for a try in another format.
    """
    owned = [find_upload(by=by, upload=upload) for upload in uploads]
    for upload in owned:
        if upload.project_id != project.pk or upload.offset < upload.size:
            raise DomainError(
                Message("upload_unfinished", filename=upload.filename, offset=upload.offset, size=upload.size),
            )
    jobs = import_places(
        by=by,
        project=project,
        files=[(str(upload.path), upload.filename) for upload in owned],
        manner=manner,
        name=name or f"{len(owned)} files",
    )
    for upload in owned:
        upload.delete()
    send(jobs[0])
    return jobs


@transaction.atomic
def import_files(
    *, by: User, project: Project, files: Sequence[tuple[str, Iterable[bytes]]], manner: Manner
) -> list[ImportJob]:
    """Store files that came in one request, as (name, pieces), and start their import.

    Raises Forbidden, as `keep_file`, and for one file as `create_import`.
    """
    require_role(by, project, Membership.Role.MANAGER)
    stored: list[tuple[str, str]] = []
    try:
        for filename, pieces in files:
            stored.append((str(keep_file(pieces=pieces, filename=filename)), filename))
        jobs = import_places(by=by, project=project, files=stored, manner=manner, name=f"{len(stored)} files")
    except BaseException:
        for place, _size in stored:
            Path(place).unlink(missing_ok=True)
        raise
    send(jobs[0])
    return jobs


@transaction.atomic
def import_from_root(*, by: User, project: Project, root: str, path: str, manner: Manner) -> list[ImportJob]:
    """Start the import of a file, a folder or a pattern below one of the operator's roots.

    Raises Forbidden, and as `place_below`, `find_files` and, for one file, `create_import`.
    """
    require_role(by, project, Membership.Role.MANAGER)
    files = find_files(place_below(root, path), below=root)
    jobs = import_places(
        by=by, project=project, files=[(file, file) for file in files], manner=manner, name=f"{root}: {path or 'all'}"
    )
    send(jobs[0])
    return jobs


@transaction.atomic
def import_places(
    *, by: User | None, project: Project, files: Sequence[tuple[str, str]], manner: Manner, name: str
) -> list[ImportJob]:
    """Jobs for (place, name) of files; several make a group, in which a file that cannot be read is a failed job."""
    if len(files) == 1:
        return [_job(by, project, *files[0], manner)]
    group = ImportGroup.objects.create(project=project, requested_by=by, name=name[:300])
    jobs = [_job_of(group, place, filename, manner) for place, filename in files]
    if all(job.state == ImportJob.State.FAILED for job in jobs):
        raise DomainError(Message("no_readable_file", n=len(jobs), error=jobs[0].error))
    return [job for job in jobs if job.state != ImportJob.State.FAILED]


def cancel_group(*, by: User, group: ImportGroup) -> None:
    """Cancel a group's running and waiting jobs. Raises Forbidden."""
    for job in group.jobs.filter(state__in=ImportJob.LIVE).order_by("-pk"):
        with suppress(Conflict):  # one that is over by now leaves the others to stop
            cancel_job(by=by, job=job)


def summary_of(group: ImportGroup) -> dict[str, int]:
    """The counts of all files of a group, and how many files there are, are live, and failed."""
    figures = group.jobs.aggregate(
        files=Count("pk"),
        live=Count("pk", filter=Q(state__in=ImportJob.LIVE)),
        failed=Count("pk", filter=Q(state=ImportJob.State.FAILED)),
        **{
            field: Sum(field)
            for field in ("accepted", "duplicates", "rejected", "annotations", "done_bytes", "total_bytes")
        },
    )
    return {name: value or 0 for name, value in figures.items()}


def _job(
    by: User | None, project: Project, place: str, filename: str, manner: Manner, group: ImportGroup | None = None
) -> ImportJob:
    return create_import(
        by=by,
        project=project,
        path=place,
        filename=filename,
        format=manner.format,
        decomposition=manner.decomposition,
        options=manner.options,
        group=group,
    )


def _job_of(group: ImportGroup, place: str, filename: str, manner: Manner) -> ImportJob:
    try:
        with transaction.atomic():
            return _job(group.requested_by, group.project, place, filename, manner, group)
    except DomainError as error:
        return ImportJob.objects.create(
            project=group.project,
            requested_by=group.requested_by,
            group=group,
            filename=filename[-300:],
            path=place,
            state=ImportJob.State.FAILED,
            error=error.message,
            finished_at=timezone.now(),
        )
