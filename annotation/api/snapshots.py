"""Snapshots: freeze labels, look at what was frozen, download it in a format with its card."""

from typing import Any

from django.http import HttpResponse, StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.downloads import download
from annotation.api.fields import JSONObjectField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.core.wording import in_words
from annotation.labels.datasets.dataset_cards import dataset_card
from annotation.labels.datasets.plans import Plan, plan_export
from annotation.labels.datasets.snapshot_export import content_type, export_name, export_snapshot
from annotation.labels.datasets.snapshots import create_snapshot
from annotation.models import Membership, Snapshot
from prm.exporters import CONTENT_TYPES, EXPORTERS
from prm.messages import Message
from prm.vocabulary import NEUTRAL_POLICIES, SPLITS


class RefusalSerializer(serializers.Serializer):
    code = serializers.CharField()
    message = serializers.CharField()


class PlanSerializer(serializers.Serializer):
    """What a download in a format holds if nothing else is asked for, and what it leaves out."""

    format = serializers.CharField()
    splits = serializers.ListField(child=serializers.ChoiceField(SPLITS))
    solutions = serializers.IntegerField(help_text="In the file.")
    left_out = serializers.DictField(
        child=serializers.IntegerField(), help_text="Solutions that are not in the file, by split or other reason."
    )
    ends_early = serializers.DictField(
        child=serializers.IntegerField(), help_text="Lines of TRL that end before the agreed path does, by reason."
    )
    not_held = serializers.DictField(
        child=serializers.IntegerField(), help_text="What the whole snapshot says and the format has no place for."
    )
    refusal = RefusalSerializer(allow_null=True, help_text="Why there is no such file; null if there is one.")


class SnapshotSerializer(serializers.ModelSerializer):
    """A frozen dataset; `counts` says what is in it, `exports` what a download in each format would hold."""

    project = serializers.SlugField(source="project.slug", read_only=True)
    exports = serializers.SerializerMethodField()

    class Meta:
        model = Snapshot
        fields = ("id", "project", "sha256", "filters", "counts", "exports", "created_at")
        read_only_fields = fields

    @extend_schema_field(PlanSerializer(many=True))
    def get_exports(self, snapshot: Snapshot) -> list[dict[str, Any]]:
        return [_told(plan_export(snapshot, format)) for format in EXPORTERS]


def _told(plan: Plan) -> dict[str, Any]:
    refusal = plan.refusal and {"code": plan.refusal.code, "message": in_words(plan.refusal.message)}
    return dict(PlanSerializer(vars(plan) | {"refusal": refusal}).data)


class FreezeSerializer(serializers.Serializer):
    filters = JSONObjectField(
        required=False,
        default=dict,
        help_text="`splits`, `policies`, `visibilities`, `source_kinds`, `finish_reasons`, `lanes`, "
        "`generations` (lists; empty is all), `submitted_from`, `submitted_to` (ISO 8601), "
        "`min_annotations` (1), `revisions` (latest or all), `agreement` "
        "(`sources`: two or more; `on`: first_error, within_one or presence; `keep`: agreeing or differing).",
    )


class DownloadSerializer(serializers.Serializer):
    format = serializers.CharField(default="prm800k", help_text="The name of an export format.")
    neutral = serializers.ChoiceField(NEUTRAL_POLICIES, default="positive")
    splits = serializers.MultipleChoiceField(
        choices=SPLITS,
        required=False,
        help_text="The splits in the file. By default TRL, whose lines do not say theirs, has those that the snapshot "
        "was asked for, else the pool; the other formats have all.",
    )


class Snapshots(PagedView):
    """The snapshots of a project."""

    @extend_schema(operation_id="list_snapshots", request=None, responses=SnapshotSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The snapshots of the project, the latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        snapshots = Snapshot.objects.filter(project=project).select_related("project")
        return self.page_of(snapshots, request, SnapshotSerializer)

    @extend_schema(operation_id="create_snapshot", request=FreezeSerializer, responses={201: SnapshotSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Freeze the labels that the filters ask for. A manager may."""
        project = find_project(request.user, slug)
        given = FreezeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        snapshot = create_snapshot(by=caller(request), project=project, filters=given.validated_data["filters"])
        return Response(SnapshotSerializer(snapshot).data, status=201)


class SnapshotDetail(APIView):
    """One snapshot."""

    @extend_schema(operation_id="get_snapshot", responses=SnapshotSerializer)
    def get(self, request: Request, snapshot_id: int) -> Response:
        """What is in the snapshot. A manager may."""
        return Response(SnapshotSerializer(_find(request, snapshot_id)).data)


class Download(APIView):
    """A snapshot as a file."""

    @extend_schema(
        operation_id="download_snapshot",
        parameters=[DownloadSerializer],
        responses={(200, kind): OpenApiTypes.BINARY for kind in CONTENT_TYPES.values()},
    )
    def get(self, request: Request, snapshot_id: int) -> StreamingHttpResponse:
        """The snapshot as PRM800K, TRL stepwise supervision, a table, or Stepmark's own records. A manager may."""
        snapshot = _find(request, snapshot_id)
        asked = DownloadSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        format, neutral = asked.validated_data["format"], asked.validated_data["neutral"]
        content = export_snapshot(snapshot, format, neutral=neutral, splits=asked.validated_data.get("splits"))
        return download(content, name=export_name(snapshot, format), content_type=content_type(format))


class Card(APIView):
    """The dataset card of a snapshot."""

    @extend_schema(
        operation_id="get_card",
        parameters=[
            OpenApiParameter("neutral", enum=NEUTRAL_POLICIES, description="The policy of the TRL export beside it."),
            OpenApiParameter("splits", enum=SPLITS, many=True, description="The splits of the export beside it."),
        ],
        responses={(200, "text/markdown"): OpenApiTypes.STR},
    )
    def get(self, request: Request, snapshot_id: int) -> HttpResponse:
        """What was supervised, by whom, how, in Markdown. A manager may."""
        snapshot = _find(request, snapshot_id)
        asked = DownloadSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        given = asked.validated_data
        card = dataset_card(snapshot, neutral=given["neutral"], splits=given.get("splits"))
        return HttpResponse(card, content_type="text/markdown; charset=utf-8")


def _find(request: Request, snapshot_id: int) -> Snapshot:
    snapshots = Snapshot.objects.select_related("project").filter(project__in=visible_projects(request.user))
    snapshot = snapshots.filter(pk=snapshot_id).first()
    if snapshot is None:
        raise Missing("snapshot_not_found", Message("snapshot_not_found", snapshot_id=snapshot_id))
    require_role(request.user, snapshot.project, Membership.Role.MANAGER)
    return snapshot
