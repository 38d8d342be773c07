"""Snapshots: freeze labels, look at what was frozen, download it in a format with its card."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

import msgspec
from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query
from annotation.api.downloads import download
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id
from annotation.core.membership.access import find_project, find_visible
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.plans import plan_export
from annotation.labels.datasets.snapshot_export import content_type, export_name, export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Membership, Snapshot
from prm.exporters import CONTENT_TYPES, EXPORTERS
from prm.messages import Message
from prm.vocabulary import NeutralPolicy, Split


class Refusal(msgspec.Struct):
    code: str
    message: str


class ExportPlan(Row):
    """What a download in a format holds if nothing else is asked for, and what it leaves out."""

    format: str
    splits: list[Split]
    solutions: Annotated[Count, Meta(description="In the file.")]
    left_out: Annotated[
        dict[str, Count], Meta(description="Solutions that are not in the file, by split or other reason.")
    ]
    ends_early: Annotated[
        dict[str, Count], Meta(description="Lines of TRL that end before the agreed path does, by reason.")
    ]
    not_held: Annotated[
        dict[str, Count], Meta(description="What the whole snapshot says and the format has no place for.")
    ]
    refusal: Annotated[Refusal | None, Meta(description="Why there is no such file; null if there is one.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        refusal = row.refusal and Refusal(row.refusal.code, row.refusal.message)
        return super().of(row, refusal=refusal, **others)


class SnapshotRow(Row):
    """A frozen dataset; `counts` says what is in it, `exports` what a download in each format would hold."""

    paths: ClassVar[dict[str, str]] = {"project": "project.slug"}

    id: Id
    project: str
    sha256: str
    filters: dict[str, Any]
    counts: dict[str, Any]
    exports: list[ExportPlan]
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        exports = [ExportPlan.of(plan_export(row, format)) for format in EXPORTERS]
        return super().of(row, exports=exports, **others)


class SnapshotToCreate(msgspec.Struct):
    filters: Annotated[
        dict[str, Any],
        Meta(
            description="`splits`, `policies`, `visibilities`, `source_kinds`, `finish_reasons`, `lanes`, "
            "`generations` (lists; empty is all), `submitted_from`, `submitted_to` (ISO 8601), "
            "`min_annotations` (1), `revisions` (latest or all), `agreement` "
            "(`sources`: two or more; `on`: first_error, within_one or presence; `keep`: agreeing or differing)."
        ),
    ] = {}


class CardQuery(msgspec.Struct, kw_only=True):
    neutral: Annotated[
        NeutralPolicy, Meta(description="What becomes of neutral steps in formats that have only yes and no.")
    ] = "positive"
    splits: Annotated[
        list[Split] | None,
        Meta(
            description="The splits in the file. By default TRL, whose lines do not say theirs, has those that the "
            "snapshot was asked for, else the pool; the other formats have all."
        ),
    ] = None


class DownloadQuery(CardQuery, kw_only=True):
    format: Annotated[
        str, Meta(description="The name of an export format.", extra_json_schema={"enum": list(EXPORTERS)})
    ] = "prm800k"


class Snapshots(PagedView):
    """The snapshots of a project."""

    @extend_schema(operation_id="list_snapshots", request=None, responses=Page[SnapshotRow])
    def get(self, request: Request, slug: str) -> Response:
        """The snapshots of the project, the latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        snapshots = Snapshot.objects.filter(project=project).select_related("project")
        return self.page_of(snapshots, request, SnapshotRow.of)

    @extend_schema(operation_id="create_snapshot", request=SnapshotToCreate, responses={201: SnapshotRow})
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the labels that the filters ask for. A manager may."""
        project = find_project(request.user, slug)
        filters = read_body(request, SnapshotToCreate).filters
        return Response(
            SnapshotRow.of(create_snapshot(by=caller(request), project=project, filters=filters)), status=201
        )


class SnapshotDetail(APIView):
    """One snapshot."""

    @extend_schema(operation_id="get_snapshot", responses=SnapshotRow)
    def get(self, request: Request, snapshot_id: int) -> Response:
        """What is in the snapshot. A manager may."""
        return Response(SnapshotRow.of(_find(request, snapshot_id)))


class Download(APIView):
    """A snapshot as a file."""

    @extend_schema(
        operation_id="download_snapshot",
        parameters=query_of(DownloadQuery),
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: Request, snapshot_id: int) -> StreamingHttpResponse:
        """The snapshot as PRM800K, TRL stepwise supervision, a table, or Stepmark's own records. A manager may."""
        snapshot = _find(request, snapshot_id)
        query = read_query(request, DownloadQuery)
        content = export_snapshot(snapshot, query.format, neutral=query.neutral, splits=query.splits)
        return download(content, name=export_name(snapshot, query.format), content_type=content_type(query.format))


class Card(APIView):
    """The dataset card of a snapshot."""

    @extend_schema(
        operation_id="get_card",
        parameters=query_of(CardQuery),
        responses={(200, "text/markdown"): OpenApiTypes.STR},
    )
    def get(self, request: Request, snapshot_id: int) -> HttpResponse:
        """What was supervised, by whom, how, in Markdown. A manager may."""
        snapshot = _find(request, snapshot_id)
        query = read_query(request, CardQuery)
        card = dataset_card(snapshot, neutral=query.neutral, splits=query.splits)
        return HttpResponse(card, content_type="text/markdown; charset=utf-8")


def _find(request: Request, snapshot_id: int) -> Snapshot:
    otherwise = Message("snapshot_not_found", snapshot_id=snapshot_id)
    return find_visible(request.user, Snapshot.objects.all(), snapshot_id, otherwise, Membership.Role.MANAGER)
