"""Imports asked for and watched."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError, Missing, translated_format_errors
from annotation.core.lifecycle import send
from annotation.core.membership.access import require_role
from annotation.files.opening import open_content
from annotation.files.places import is_address, size_of
from annotation.files.preparing import splitting_of
from annotation.files.uploads import keep_file
from annotation.models import ImportGroup, ImportJob, ImportOptions, Membership, Project, parse_options
from prm.faults import fault_of
from prm.formats.detection import detect
from prm.formats.mapping import Mapping
from prm.formats.registry import FORMATS, TABLE
from prm.formats.table import checked, sample
from prm.messages import Message


@transaction.atomic
def start_import(
    *,
    by: User,
    project: Project,
    file: Iterable[bytes],
    filename: str,
    format: str = "auto",
    decomposition: str = "blank_lines",
    options: ImportOptions | None = None,
) -> ImportJob:
    """Store an uploaded file, passed in pieces, and enqueue its import.

    Raises Forbidden, DomainError (`unknown_format`, `unknown_decomposition`) at once if no record of it can be read.
    """
    require_role(by, project, Membership.Role.MANAGER)
    path = keep_file(pieces=file, filename=filename)
    try:
        job = create_import(
            by=by,
            project=project,
            path=path,
            filename=filename,
            format=format,
            decomposition=decomposition,
            options=options,
        )
    except BaseException:
        path.unlink(missing_ok=True)
        raise
    send(job)
    return job


@transaction.atomic
def create_import(
    *,
    by: User | None,
    project: Project,
    path: Path | str,
    filename: str,
    format: str,
    decomposition: str,
    options: ImportOptions | None = None,
    group: ImportGroup | None = None,
) -> ImportJob:
    """Create a job, not enqueued yet, for a file that stays in its place (see `places`).

    `by` is None for the operator of the machine. Raises as `start_import`, Missing (`file_not_found`) and DomainError
    (`unreadable_file`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    splitting_of(decomposition, (options or ImportOptions()).thinking)
    place = str(path) if is_address(str(path)) else str(Path(path).resolve())
    read_format, mapping = _format_of(place, filename, format, options.mapping if options else None)
    options = msgspec.structs.replace(options or ImportOptions(), mapping=mapping)
    job = ImportJob.objects.create(
        project=project,
        requested_by=by,
        group=group,
        filename=filename[-300:] if group else Path(filename).name[:300],
        path=place,
        format=read_format,
        decomposition=decomposition,
        options=msgspec.to_builtins(options),
        total_bytes=size_of(place),
    )
    audit.record(
        by=by,
        action="import.start",
        target=job,
        project=project,
        after={"filename": job.filename, "format": job.format, "bytes": job.total_bytes},
    )
    return job


def read_options(body: dict[str, Any]) -> ImportOptions:
    """The options of an import from what a request gives. Raises DomainError (`invalid_options`) naming the field."""
    try:
        return parse_options(body)
    except msgspec.ValidationError as error:
        field, reason = fault_of(error)
        raise DomainError(
            Message("import_option_invalid", field=field, reason=reason), {"field": field}, code="invalid_options"
        ) from None


@translated_format_errors()
def _format_of(place: str, filename: str, format: str, mapping: Mapping | None) -> tuple[str, Mapping | None]:
    """The format, and for a table its mapping: the user's, else the proposed one."""
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
            return format, checked(mapping, sample(content.stream))
    except OSError as error:
        reason = Message("file_not_readable", filename=filename, strerror=error.strerror or error)
        if isinstance(error, FileNotFoundError):
            raise Missing(reason, code="file_not_found") from None
        raise DomainError(reason, code="unreadable_file") from None
