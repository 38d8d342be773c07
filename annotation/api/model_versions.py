"""Model versions of a project: what each is, which of them serves, which are kept."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import AuditsField, JSONObjectField, VerdictField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, require_role, visible_projects
from annotation.loop.registry import confirm_version, pin_version, promote_version, unpin_version
from annotation.models import ModelVersion
from prm.messages import Message


class ModelVersionSerializer(serializers.ModelSerializer):
    metrics = JSONObjectField(help_text="Measured on the holdout as it was labelled then.")
    gate = VerdictField(help_text="The verdict with its interval and its sentence.")
    measured = serializers.BooleanField(read_only=True, help_text="Whether the gate measured it on the holdout.")
    answers_programs = serializers.BooleanField(
        read_only=True, help_text="Whether /score, sessions and /pooling may answer with it."
    )
    overruled = serializers.BooleanField(
        read_only=True, help_text="Whether the gate rejected it and a manager promoted it all the same."
    )

    class Meta:
        model = ModelVersion
        fields = [
            "id", "number", "state", "sha256", "metrics", "gate", "origin", "pinned", "created_at", "promoted_at",
            "confirmed_at", "measured", "answers_programs", "overruled", "weights_deleted_at",
        ]  # fmt: skip


class LineageSerializer(serializers.Serializer):
    """Where a version comes from; null where that does not apply or is not known."""

    run = serializers.IntegerField(allow_null=True, source="run.number", default=None)
    snapshot = serializers.IntegerField(allow_null=True, source="snapshot_id")
    snapshot_sha256 = serializers.CharField(allow_null=True, source="snapshot.sha256", default=None)
    imported_from = serializers.CharField(help_text="The folder it was imported from; empty for a trained one.")
    base = serializers.CharField(allow_null=True, source="shown_manifest.base", default=None)
    base_sha256 = serializers.CharField(allow_null=True, source="manifest.base_sha256", default=None)
    code = serializers.CharField(allow_null=True, source="manifest.versions.prm", default=None)
    seed = serializers.IntegerField(allow_null=True, source="manifest.config.seed", default=None)
    measured_against = serializers.IntegerField(
        allow_null=True, source="metrics.champion", default=None, help_text="Number of the champion at that time."
    )


class DescribedModelSerializer(ModelVersionSerializer):
    project = serializers.SlugField(source="project.slug", read_only=True)
    manifest = JSONObjectField(
        source="shown_manifest", read_only=True, help_text="What the library wrote beside the weights."
    )
    audits = AuditsField(help_text="The last audit's findings, and what it was made on; empty before the first.")
    lineage = LineageSerializer(source="*")
    domains = serializers.SerializerMethodField(help_text="Those that it serves in the champion's place.")

    class Meta(ModelVersionSerializer.Meta):
        fields = [*ModelVersionSerializer.Meta.fields, "project", "manifest", "audits", "lineage", "domains"]

    def get_domains(self, version: ModelVersion) -> list[str]:
        return [own.domain for own in version.domains.all()]


class ModelVersions(PagedView):
    """The versions of a project's model."""

    @extend_schema(operation_id="list_models", responses=ModelVersionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The latest first; for reviewers and managers."""
        versions = find_project(request.user, slug, *STAFF).model_versions.order_by("-number")
        return self.page_of(versions, request, ModelVersionSerializer)


class ModelVersionDetail(APIView):
    """One version."""

    @extend_schema(operation_id="get_model", responses=DescribedModelSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """A version with its manifest, metrics, verdict, lineage and audits; for reviewers and managers."""
        return Response(DescribedModelSerializer(find_version(request, version_id, *STAFF)).data)


class Promote(APIView):
    """Letting a version serve by hand."""

    @extend_schema(operation_id="promote_model", request=None, responses=ModelVersionSerializer)
    def post(self, request: Request, version_id: int) -> Response:
        """Make a version the champion: the rollback. A manager may."""
        version = promote_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionSerializer(version).data)


class Confirm(APIView):
    """Letting a version answer programs that the gate could not measure."""

    @extend_schema(operation_id="confirm_model", request=None, responses=ModelVersionSerializer)
    def post(self, request: Request, version_id: int) -> Response:
        """Let an unmeasured version answer /score, sessions and /pooling. A manager may."""
        version = confirm_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionSerializer(version).data)


class Pin(APIView):
    """Keeping a version, whatever gate and retention say."""

    @extend_schema(operation_id="pin_model", request=None, responses=ModelVersionSerializer)
    def put(self, request: Request, version_id: int) -> Response:
        """Pin: as champion it is not replaced by the gate, and its weights are kept. A manager may."""
        version = pin_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionSerializer(version).data)

    @extend_schema(operation_id="unpin_model", request=None, responses=ModelVersionSerializer)
    def delete(self, request: Request, version_id: int) -> Response:
        """Unpin: gate and retention decide again. A manager may."""
        version = unpin_version(by=caller(request), version=find_version(request, version_id))
        return Response(ModelVersionSerializer(version).data)


def find_version(request: Request, version_id: int, *roles: str) -> ModelVersion:
    """The version, for members of its project with one of `roles`. Raises Missing (`model_not_found`), Forbidden."""
    versions = ModelVersion.objects.select_related("project", "snapshot", "run")
    version = versions.filter(pk=version_id, project__in=visible_projects(request.user)).first()
    if version is None:
        raise Missing("model_not_found", Message("no_such_model"))
    if roles:
        require_role(request.user, version.project, *roles)
    return version
