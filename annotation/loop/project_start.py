"""Starts a project in one go: its members, its first file, and its first generation."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.lifecycle import send
from annotation.core.membership.accounts import invite
from annotation.core.membership.projects import create_project
from annotation.files.import_body import run_import
from annotation.files.import_jobs import Manner, create_import
from annotation.files.uploads import store_file
from annotation.loop.selection.generations import request_first_generation
from annotation.models import ImportJob, Membership, Project
from prm.formats.record import Record
from prm.messages import Message
from prm.vocabulary import TOOL_STEPS

AT_ONCE = 2 * 1024 * 1024  # bytes of a file that is imported before the answer; a worker imports larger ones


@dataclass(frozen=True)
class FirstFile:
    """A file's name, its content in pieces, and how it is read."""

    filename: str
    pieces: Iterable[bytes]
    manner: Manner


@dataclass(frozen=True)
class Start:
    """What was started. `job` is the import, None without a file; `passwords` are those of new accounts, by name."""

    project: Project
    job: ImportJob | None = None
    passwords: dict[str, str] = field(default_factory=dict)


@transaction.atomic
def start_project(
    *,
    by: User,
    name: str,
    scheme: dict[str, Any],
    guidelines: str,
    people: Sequence[str] = (),
    file: FirstFile | None = None,
) -> Start:
    """Create a project with a free address, invite `people` as annotators, import the file, open a generation.

    Either all of it happens or nothing. A file of more than AT_ONCE bytes is only checked and enqueued.
    Raises the errors of `create_project`, `invite`, `store_file` and `create_import`, and DomainError
    (`nothing_imported`) if no record can be imported; `field` in `extra` is one of `name`, `people`, `file`, or a field
    of the project.
    """
    project = create_project(by=by, name=name, slug=_free_address(name), scheme=scheme, guidelines=guidelines)
    passwords = {}
    for person in people:
        try:
            _, password = invite(by=by, project=project, username=person, role=Membership.Role.ANNOTATOR)
        except DomainError as error:
            raise _of_field("people", error) from error
        if password:
            passwords[person] = password
    if file is None:
        return Start(project, passwords=passwords)
    try:
        job = _import(by, project, file)
    except DomainError as error:
        raise _of_field("file", error) from error
    if not job.live:
        _open_generation(by, project)
    return Start(project, job, passwords)


def suggest_template(records: Sequence[Record]) -> str:
    """The name of the project template that suits the first records of a file; the default if nothing decides."""
    kinds = {step.kind for record in records for at in record.positions for step in at}
    if kinds & {"edit"}:
        return "code_change"
    if kinds & TOOL_STEPS:
        return "agent_run"
    if any(sum(len([step for step in at if not step.added]) > 1 for at in record.positions) > 1 for record in records):
        return "prm800k_phase_1"
    return "first_error"


def _import(by: User, project: Project, file: FirstFile) -> ImportJob:
    place = store_file(pieces=file.pieces, filename=file.filename)
    try:
        job = create_import(by=by, project=project, path=place, filename=file.filename, manner=file.manner)
        if job.total_bytes > AT_ONCE:
            send(job)
            return job
        run_import(job.pk)
        job.refresh_from_db()
        if job.state == ImportJob.State.FAILED:
            raise DomainError(job.error, code="nothing_imported")
        if not job.accepted:
            raise _nothing_imported(job)
    except BaseException:
        storage.remove(storage.key_of(place))
        raise
    return job


def _open_generation(by: User, project: Project) -> None:
    """Open the first generation; a file whose solutions all have labels already leaves nothing for one."""
    try:
        request_first_generation(by=by, project=project)
    except DomainError as error:
        if error.code != "nothing_to_label":
            raise


def _nothing_imported(job: ImportJob) -> DomainError:
    first = job.rejections.order_by("line").first()
    if first is None:
        return DomainError(Message("import_without_records", filename=job.filename), code="nothing_imported")
    place = Message("field_reason", field=first.field, reason=first.reason) if first.field else first.reason
    return DomainError(
        Message("first_record_rejected", filename=job.filename, line=first.line, reason=place), code="nothing_imported"
    )


def _free_address(name: str) -> str:
    """The name as an address, with the lowest number that makes it new."""
    plain = slugify(name)[:70].rstrip("-") or "project"
    taken = set(Project.objects.filter(slug__startswith=plain).values_list("slug", flat=True))
    return plain if plain not in taken else next(f"{plain}-{n}" for n in count(2) if f"{plain}-{n}" not in taken)


def _of_field(name: str, error: DomainError) -> DomainError:
    return DomainError(error.message, {**error.extra, "field": name}, code=error.code)
