"""Exports that repeat: every few days, or after each promotion."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

import msgspec
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import require_role
from annotation.core.periodic import for_each
from annotation.files.places import target_below
from annotation.labels.datasets.export_jobs import ExportOptions, ExportPlace, check_formats, start_scheduled
from annotation.labels.datasets.filters import parse_filters
from annotation.models import ExportSchedule, Membership, Project
from prm.messages import Message

MOST_DAYS = 366


@transaction.atomic
def create_schedule(
    *,
    by: User,
    project: Project,
    name: str,
    formats: Sequence[str],
    place: ExportPlace,
    filters: dict[str, Any] | None = None,
    options: ExportOptions | None = None,
    every_days: int | None = None,
    after_promotion: bool = False,
) -> ExportSchedule:
    """Export with these filters and formats to this place from now on.

    The first export by days starts within minutes. Raises Forbidden, Missing (`import_root_not_found`), Conflict
    (`schedule_name_taken`), DomainError (`invalid_filters`, `unknown_format`, `invalid_schedule`, `bad_path`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    if not name.strip() or not formats:
        raise DomainError(Message("schedule_incomplete"), code="invalid_schedule")
    if not (after_promotion if every_days is None else 1 <= every_days <= MOST_DAYS):
        raise DomainError(Message("schedule_never_due", most=MOST_DAYS), code="invalid_schedule")
    check_formats(formats)
    target_below(place.root, place.path)
    try:
        with transaction.atomic():
            schedule = ExportSchedule.objects.create(
                project=project,
                name=name.strip()[:100],
                filters=msgspec.to_builtins(parse_filters(filters or {})),
                formats=list(formats),
                options=msgspec.to_builtins(options or ExportOptions()),
                root=place.root,
                path=place.path,
                every_days=every_days,
                after_promotion=after_promotion,
                created_by=by,
            )
    except IntegrityError:
        raise Conflict(Message("schedule_name_taken", name=name.strip())) from None
    audit.record(by=by, action="export_schedule.create", target=schedule, after=_state(schedule))
    return schedule


@transaction.atomic
def set_schedule_active(*, by: User, schedule: ExportSchedule, active: bool) -> ExportSchedule:
    """Pause a schedule, or let it go on. Raises Forbidden."""
    require_role(by, schedule.project, Membership.Role.MANAGER)
    before, schedule.active = schedule.active, active
    schedule.save(update_fields=["active"])
    if before != active:
        audit.record(
            by=by,
            action="export_schedule.change",
            target=schedule,
            before={"active": before},
            after={"active": active},
        )
    return schedule


@transaction.atomic
def delete_schedule(*, by: User, schedule: ExportSchedule) -> None:
    """Delete a schedule; its jobs and files stay. Raises Forbidden."""
    require_role(by, schedule.project, Membership.Role.MANAGER)
    audit.record(by=by, action="export_schedule.delete", target=schedule, before=_state(schedule))
    schedule.delete()


def start_due_exports(now: datetime | None = None) -> int:
    """Start the exports of active projects that are due; returns how many."""
    now = now or timezone.now()
    schedules = ExportSchedule.objects.filter(active=True, project__state=Project.State.ACTIVE)
    return for_each(schedules, lambda schedule: _start_if_due(schedule.pk, now))


@transaction.atomic
def _start_if_due(schedule_id: int, now: datetime) -> bool:
    """Start the export if it is due; the lock is against another worker that looks at the same time."""
    locked = ExportSchedule.objects.select_for_update(no_key=True, of=("self",), skip_locked=True)
    schedule = locked.select_related("project").filter(pk=schedule_id, active=True).first()
    if schedule is None or not _is_due(schedule, now):
        return False
    start_scheduled(schedule)
    return True


def _is_due(schedule: ExportSchedule, now: datetime) -> bool:
    """Whether its days have passed, or a version was promoted, since the last export, which has ended."""
    last = schedule.export_jobs.first()
    if last is not None and last.live:
        return False
    if schedule.every_days and (last is None or last.created_at + timedelta(days=schedule.every_days) <= now):
        return True
    since = schedule.created_at if last is None else last.created_at
    return schedule.after_promotion and schedule.project.model_versions.filter(promoted_at__gt=since).exists()


def _state(schedule: ExportSchedule) -> dict[str, Any]:
    names = ("name", "filters", "formats", "options", "root", "path", "every_days", "after_promotion")
    return {name: getattr(schedule, name) for name in names}
