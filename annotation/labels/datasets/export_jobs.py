"""Exports as jobs: a worker makes a snapshot, and writes it in several formats to a folder or an object storage."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.bounds import about
from annotation.core.errors import DomainError, Missing
from annotation.core.lifecycle import beat, beating_apart, fail_job, run_job, send
from annotation.core.membership.access import require_role
from annotation.files.places import target_below, write_place
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.filters import SnapshotFilters, parse_filters
from annotation.labels.datasets.plans import MixedKinds, plan_export
from annotation.labels.datasets.record_stream import candidate_solutions
from annotation.labels.datasets.snapshot_export import deliver_snapshot, export_name
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import ExportJob, ExportSchedule, Membership, Project, Snapshot
from prm.errors import UnknownNameError
from prm.exporters import EXPORTERS
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, Split


class ExportOptions(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, frozen=True):
    """Options of `export_snapshot` for all files of an export. Without `neutral`, the project's policy decides."""

    neutral: Annotated[NeutralPolicy | None, about("How to map neutral steps; null for the project's policy.")] = None
    splits: Annotated[list[Split], about("The splits in the files; empty for the default.")] = []
    mixed_kinds: Annotated[MixedKinds, about("Whether a format that cannot state source kinds may mix several.")] = (
        "refuse"
    )


class ExportPlace(msgspec.Struct, frozen=True):
    """The folder `path` below the operator's export root of this name."""

    root: Annotated[str, about("The name of the export root.")]
    path: Annotated[str, about("The folder below the export root.")] = ""


@transaction.atomic
def request_export(
    *,
    by: User,
    project: Project,
    filters: dict[str, Any] | None = None,
    snapshot: Snapshot | None = None,
    formats: Sequence[str] = (),
    place: ExportPlace | None = None,
    options: ExportOptions | None = None,
) -> ExportJob:
    """Enqueue a snapshot with these filters, or take an existing `snapshot`, and write it in the formats.

    Raises Forbidden, Missing (`import_root_not_found`, `snapshot_not_found`), DomainError (`invalid_filters`,
    `unknown_format`, `export_incomplete`, `bad_path`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    if snapshot is not None and snapshot.project_id != project.pk:
        raise Missing(Message("snapshot_not_found", snapshot_id=snapshot.pk))
    stored = msgspec.to_builtins(parse_filters(filters or {}))
    if bool(formats) != bool(place) or not (formats or snapshot is None):
        raise DomainError(Message("export_incomplete"))
    check_formats(formats)
    job = ExportJob.objects.create(
        project=project,
        requested_by=by,
        snapshot=snapshot,
        filters=snapshot.filters if snapshot else stored,
        formats=list(formats),
        options=msgspec.to_builtins(options or ExportOptions()),
        target=target_below(place.root, place.path) if place else "",
    )
    after = {"filters": job.filters, "formats": job.formats, "target": job.target}
    audit.record(by=by, action="export.request", target=job, after=after)
    send(job)
    return job


@transaction.atomic
def start_scheduled(schedule: ExportSchedule) -> ExportJob:
    """Enqueue an export of a schedule; it fails at once if the operator removed its root."""
    job = ExportJob.objects.create(
        project=schedule.project,
        schedule=schedule,
        filters=schedule.filters,
        formats=schedule.formats,
        options=schedule.options,
    )
    try:
        job.target = target_below(schedule.root, schedule.path)
    except DomainError as error:
        fail_job(job, error)
        return job
    job.save(update_fields=["target"])
    send(job)
    return job


def run_export(job_id: int) -> None:
    """Do the export. Does nothing if another worker has it, or if it has ended."""
    run_job(ExportJob, job_id, _perform)


def check_formats(formats: Iterable[str]) -> None:
    """Raises DomainError (`unknown_format`) for a name that is not an export format's."""
    for name in formats:
        try:
            EXPORTERS.check(name)
        except UnknownNameError as error:
            raise DomainError(error.args[0], {"field": "formats"}, code="unknown_format") from None


def _perform(job: ExportJob) -> None:
    snapshot = job.snapshot or _make_snapshot(job)
    if job.formats:
        _write_files(job, snapshot)


def _make_snapshot(job: ExportJob) -> Snapshot:
    job.total = candidate_solutions(job.project, msgspec.convert(job.filters, SnapshotFilters)).count()
    job.save(update_fields=["total"])
    with beating_apart(job) as beat_apart:
        snapshot = create_snapshot(
            by=job.requested_by,
            project=job.project,
            filters=job.filters,
            on_record=lambda done: beat_apart(done=done),
        )
    job.snapshot, job.done = snapshot, snapshot.counts["solutions"]
    job.message = Message("snapshot_frozen", n=job.done, sha256=snapshot.sha256[:8])
    job.save(update_fields=["snapshot", "done", "message"])
    return snapshot


def _write_files(job: ExportJob, snapshot: Snapshot) -> None:
    """Write every format and the card, unless one of the formats cannot be written."""
    chosen = msgspec.convert(job.options, ExportOptions)
    options: dict[str, Any] = msgspec.structs.asdict(chosen)
    options["neutral"] = chosen.neutral or job.project.policies.neutral
    for format in job.formats:
        if refusal := plan_export(snapshot, format, **options).refusal:
            raise refusal
    names = []
    for format in job.formats:
        content = deliver_snapshot(
            by=job.requested_by,
            snapshot=snapshot,
            format=format,
            via="schedule" if job.schedule_id else "job",
            target=job.target,
            **options,
        )
        names.append(export_name(snapshot, format))
        write_place(f"{job.target}/{names[-1]}", _beating(job, content))
    card = dataset_card(snapshot, **options)
    names.append(f"{snapshot.project.slug}-{snapshot.sha256[:12]}.md")
    write_place(f"{job.target}/{names[-1]}", [card.encode()])
    job.files, job.message = names, Message("export_written", n=len(names), target=job.target)
    job.save(update_fields=["files", "message"])


def _beating(job: ExportJob, content: Iterable[bytes]) -> Iterator[bytes]:
    for piece in content:
        beat(job)
        yield piece
