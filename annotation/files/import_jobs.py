"""Starts imports of files: sent in one request, uploaded in pieces, or below one of the operator's roots."""

import uuid
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from annotation.core import audit, storage
from annotation.core.errors import Conflict, DomainError, Missing, translated_format_errors
from annotation.core.lifecycle import cancel_job, send
from annotation.core.membership.access import require_role
from annotation.files.opening import open_content
from annotation.files.places import find_files, place_below, resolved, size_of
from annotation.files.preparing import splitting_of
from annotation.files.uploads import store_file, take_uploads
from annotation.models import ImportGroup, ImportJob, ImportOptions, Membership, Project, parse_options
from prm.faults import fault_of
from prm.formats.detection import detect
from prm.formats.mapping import Mapping
from prm.formats.registry import FORMATS, TABLE
from prm.formats.table import checked, sample
from prm.messages import Message


@dataclass(frozen=True)
class Manner:
    """How the files of an import are read."""

    format: str = "auto"
    decomposition: str = "blank_lines"
    options: ImportOptions = field(default_factory=ImportOptions)


@transaction.atomic
def import_uploads(
    *, by: User, project: Project, uploads: Sequence[uuid.UUID], manner: Manner, name: str = ""
) -> list[ImportJob]:
    """Start the import of uploaded files; several become a group with this `name`.

    Raises as `take_uploads`, and for one file as `create_import`; the upload then stays, so that the user can try
    another format.
    """
    files = take_uploads(by=by, project=project, uploads=uploads)
    jobs = import_places(by=by, project=project, files=files, manner=manner, name=name or f"{len(files)} files")
    send(jobs[0])
    return jobs


@transaction.atomic
def import_files(
    *, by: User, project: Project, files: Sequence[tuple[str, Iterable[bytes]]], manner: Manner
) -> list[ImportJob]:
    """Store files from one request, as (name, pieces), and start their import.

    Raises Forbidden, as `store_file`, and for one file as `create_import`.
    """
    require_role(by, project, Membership.Role.MANAGER)
    stored: list[tuple[str, str]] = []
    try:
        for filename, pieces in files:
            stored.append((store_file(pieces=pieces, filename=filename), filename))
        jobs = import_places(by=by, project=project, files=stored, manner=manner, name=f"{len(stored)} files")
    except BaseException:
        for place, _filename in stored:
            storage.remove(storage.key_of(place))
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
    """Create jobs for files, as (place, name). Several become a group, in which an unreadable file is a failed job."""
    if len(files) == 1:
        [(place, filename)] = files
        return [create_import(by=by, project=project, path=place, filename=filename, manner=manner)]
    group = ImportGroup.objects.create(project=project, requested_by=by, name=name[:300])
    jobs = [_create_in_group(group, place, filename, manner) for place, filename in files]
    if all(job.state == ImportJob.State.FAILED for job in jobs):
        raise DomainError(Message("no_readable_file", n=len(jobs), error=jobs[0].error))
    return [job for job in jobs if job.state != ImportJob.State.FAILED]


def cancel_group(*, by: User, group: ImportGroup) -> None:
    """Cancel a group's running and waiting jobs. Raises Forbidden."""
    for job in group.jobs.filter(state__in=ImportJob.LIVE).order_by("-pk"):
        with suppress(Conflict):  # the job has just ended
            cancel_job(by=by, job=job)


def summary_of(group: ImportGroup) -> dict[str, int]:
    """The total counts of a group, and its numbers of files: all, live and failed."""
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


@transaction.atomic
def create_import(
    *,
    by: User | None,
    project: Project,
    path: Path | str,
    filename: str,
    manner: Manner,
    group: ImportGroup | None = None,
) -> ImportJob:
    """Create a job, without enqueueing it, for a file that stays in its place (see `places`).

    `by` is None for the operator of the machine. Raises Forbidden, Missing (`file_not_found`), DomainError
    (`unknown_format`, `unknown_decomposition`, `unreadable_file`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    splitting_of(manner.decomposition, manner.options.thinking)
    place = resolved(path)
    read_format, mapping = _format_of(place, filename, manner.format, manner.options)
    options = msgspec.structs.replace(manner.options, mapping=mapping)
    job = ImportJob.objects.create(
        project=project,
        requested_by=by,
        group=group,
        filename=filename[-300:] if group else Path(filename).name[:300],
        path=place,
        format=read_format,
        decomposition=manner.decomposition,
        options=msgspec.to_builtins(options),
        total_bytes=size_of(place),
    )
    audit.record(
        by=by,
        action="import.start",
        target=job,
        after={"filename": job.filename, "format": job.format, "bytes": job.total_bytes},
    )
    return job


def read_options(body: dict[str, Any]) -> ImportOptions:
    """The import options in a request. Raises DomainError (`invalid_options`), which names the field."""
    try:
        return parse_options(body)
    except msgspec.ValidationError as error:
        field, reason = fault_of(error, ImportOptions)
        raise DomainError(
            Message("import_option_invalid", field=field, reason=reason), {"field": field}, code="invalid_options"
        ) from None


def _create_in_group(group: ImportGroup, place: str, filename: str, manner: Manner) -> ImportJob:
    """A job of the group; a failed one if the file cannot be read."""
    by, project = group.requested_by, group.project
    try:
        with transaction.atomic():
            return create_import(by=by, project=project, path=place, filename=filename, manner=manner, group=group)
    except DomainError as error:
        return ImportJob.objects.create(
            project=project,
            requested_by=by,
            group=group,
            filename=filename[-300:],
            path=place,
            state=ImportJob.State.FAILED,
            error=error.message,
            finished_at=timezone.now(),
        )


@translated_format_errors()
def _format_of(place: str, filename: str, format: str, options: ImportOptions) -> tuple[str, Mapping | None]:
    """The format, and for a table its mapping: the user's, else the proposed one. Raises as `create_import`."""
    mapping, needs_steps = options.mapping, options.no_solution == "refuse"
    if format not in FORMATS and format != "auto":
        known = ", ".join(FORMATS)
        raise DomainError(Message("no_such_import_format", format=format, known=known), code="unknown_format")
    try:
        if format == "auto":
            with open_content(place) as content:
                format = TABLE if mapping else detect(content.stream, filename)
        if format != TABLE:
            return format, None
        with open_content(place) as content:
            return format, checked(mapping, sample(content.stream), needs_steps=needs_steps)
    except OSError as error:
        reason = Message("file_not_readable", filename=filename, strerror=error.strerror or error)
        if isinstance(error, FileNotFoundError):
            raise Missing(reason, code="file_not_found") from None
        raise DomainError(reason, code="unreadable_file") from None
