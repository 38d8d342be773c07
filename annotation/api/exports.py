"""Exports to the operator's storage: once, or by a schedule."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

import msgspec
from django.conf import settings
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body
from annotation.api.imports import ImportRoot
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.api.snapshots import Filters, PresetName
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import find_project, find_visible
from annotation.core.reading import find_row
from annotation.labels.datasets.export_jobs import ExportOptions, ExportPlace, request_export
from annotation.labels.datasets.export_schedules import (
    MOST_DAYS,
    create_schedule,
    delete_schedule,
    set_schedule_active,
)
from annotation.labels.datasets.presets import preset_filters
from annotation.models import ExportSchedule, Membership
from prm.exporters import EXPORTERS
from prm.messages import Message

Formats = Annotated[
    list[str], Meta(description="Names of export formats.", extra_json_schema={"items": {"enum": list(EXPORTERS)}})
]
Options = Annotated[
    ExportOptions,
    Meta(
        description="`neutral`, `splits` and `mixed_kinds`, as for a download. Without `neutral`, the project's policy "
        "decides."
    ),
]


class ExportJobRow(JobRow):
    """The making of a snapshot, and of its files in a folder or an object storage."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)

    schedule: Annotated[Id | None, about("The schedule that started it.")]
    snapshot: Annotated[Id | None, about("Null until the snapshot is made.")]
    filters: Annotated[dict[str, Any], about("The filters of the snapshot.")]
    formats: Formats
    options: Annotated[dict[str, Any], about("The options of the files.")]
    target: Annotated[str, about("The folder of the files; empty if only a snapshot is made.")]
    total: Annotated[Count, about("Solutions to read; labels of some may not pass the filters.")]
    done: Annotated[Count, about("Solutions in the snapshot so far.")]
    files: Annotated[list[str], about("The names of the files that were written.")]


class ExportToStart(msgspec.Struct):
    """A snapshot with `filters`, or an existing one, and the files to write. Without formats, only the snapshot."""

    preset: PresetName = ""
    filters: Filters = {}
    snapshot: Annotated[Id | None, about("A snapshot of the project, instead of `filters`.")] = None
    formats: Formats = []
    place: Annotated[
        ExportPlace | None,
        about("`root` is the name of an export root, `path` a folder below it. Files need a place."),
    ] = None
    options: Options = ExportOptions()


class ExportScheduleRow(Row):
    """An export that repeats. `last` is its latest job."""

    paths: ClassVar[dict[str, str]] = {"project": "project.slug", "created_by": "created_by.username"}

    id: Id
    project: str
    name: str
    filters: Annotated[dict[str, Any], about("The filters of each snapshot.")]
    formats: Formats
    options: Annotated[dict[str, Any], about("The options of the files.")]
    root: Annotated[str, about("The name of the export root.")]
    path: Annotated[str, about("The folder below the export root.")]
    every_days: Annotated[int | None, about("Days from one export to the next; null if only promotions start it.")]
    after_promotion: Annotated[bool, about("Whether each promotion of a model starts it.")]
    active: Annotated[bool, about("Whether it runs.")]
    created_by: str | None
    created_at: datetime
    last: Annotated[ExportJobRow | None, about("Its latest job; null for none.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        job = row.export_jobs.select_related("project", "requested_by").first()
        return super().of(row, last=job and ExportJobRow.of(job), **others)


class ScheduleToCreate(msgspec.Struct):
    """An export every `every_days` days, after each promotion of a model, or both."""

    name: Annotated[str, Meta(min_length=1, max_length=100)]
    formats: Annotated[Formats, Meta(min_length=1)]
    place: Annotated[ExportPlace, about("Where the files go.")]
    preset: PresetName = ""
    filters: Filters = {}
    options: Options = ExportOptions()
    every_days: Annotated[
        Annotated[int, Meta(ge=1, le=MOST_DAYS)] | None,
        about("Days from one export to the next; null if only promotions start it."),
    ] = None
    after_promotion: Annotated[bool, about("Whether each promotion of a model starts it.")] = False


class ScheduleChange(msgspec.Struct):
    active: Annotated[bool, about("False pauses the schedule.")]


class Exports(PagedView):
    """The exports of a project that a worker makes."""

    scopes = {"GET": "read", "POST": "export"}

    @extend_schema(operation_id="list_exports", request=None, responses=Page[ExportJobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's exports, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        return self.page_of(project.export_jobs.select_related("project", "requested_by"), request, ExportJobRow.of)

    @extend_schema(operation_id="start_export", request=ExportToStart, responses={202: ExportJobRow})
    def post(self, request: Request, slug: str) -> Response:
        """Make a snapshot in the background, and write its files to an export root. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, ExportToStart)
        otherwise = Message("snapshot_not_found", snapshot_id=body.snapshot)
        snapshot = find_row(project.snapshots.filter(pk=body.snapshot), otherwise) if body.snapshot else None
        job = request_export(
            by=caller(request),
            project=project,
            filters=preset_filters(project, body.preset, body.filters),
            snapshot=snapshot,
            formats=body.formats,
            place=body.place,
            options=body.options,
        )
        return Response(ExportJobRow.of(job), status=202)


class ExportRoots(APIView):
    """Storage that exports may write to."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_export_roots", responses=list[ImportRoot])
    def get(self, request: Request, slug: str) -> Response:
        """The export roots that the operator configured. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([ImportRoot(name, root["url"]) for name, root in settings.EXPORT_ROOTS.items()])


class ExportSchedules(PagedView):
    """The exports of a project that repeat."""

    scopes = {"GET": "read", "POST": "export"}

    @extend_schema(operation_id="list_export_schedules", request=None, responses=Page[ExportScheduleRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's scheduled exports, by name. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        schedules = project.export_schedules.select_related("project", "created_by")
        return self.page_of(schedules, request, ExportScheduleRow.of)

    @extend_schema(operation_id="create_export_schedule", request=ScheduleToCreate, responses={201: ExportScheduleRow})
    def post(self, request: Request, slug: str) -> Response:
        """Export again and again. The first export by days starts within minutes. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, ScheduleToCreate)
        fields = msgspec.structs.asdict(body)
        fields["filters"] = preset_filters(project, fields.pop("preset"), body.filters)
        schedule = create_schedule(by=caller(request), project=project, **fields)
        return Response(ExportScheduleRow.of(schedule), status=201)


class ExportScheduleDetail(APIView):
    """One scheduled export."""

    scopes = {"PATCH": "export", "DELETE": "export"}

    @extend_schema(operation_id="pause_export_schedule", request=ScheduleChange, responses=ExportScheduleRow)
    def patch(self, request: Request, schedule_id: int) -> Response:
        """Pause a schedule or let it go on. Managers only."""
        active = read_body(request, ScheduleChange).active
        schedule = set_schedule_active(by=caller(request), schedule=_find(request, schedule_id), active=active)
        return Response(ExportScheduleRow.of(schedule))

    @extend_schema(operation_id="delete_export_schedule", responses={204: None})
    def delete(self, request: Request, schedule_id: int) -> Response:
        """Delete a schedule. Its files and snapshots stay. Managers only."""
        delete_schedule(by=caller(request), schedule=_find(request, schedule_id))
        return Response(status=204)


def _find(request: Request, schedule_id: int) -> ExportSchedule:
    otherwise = Message("export_schedule_not_found")
    schedules = ExportSchedule.objects.select_related("project", "created_by")
    return find_visible(request.user, schedules, schedule_id, otherwise, Membership.Role.MANAGER)
