"""Model versions of a project, and which of them serves."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import JSONObjectField
from annotation.api.paging import PagedView
from annotation.errors import Missing
from annotation.membership.access import STAFF, find_project, visible_projects
from annotation.models import ModelVersion
from annotation.rounds.registry import promote_version


class ModelVersionSerializer(serializers.ModelSerializer):
    metrics = JSONObjectField(help_text="Measured on the holdout as it was labelled then.")
    gate = JSONObjectField(help_text="The verdict with its interval and its sentence.")

    class Meta:
        model = ModelVersion
        fields = ("id", "number", "state", "sha256", "metrics", "gate", "created_at", "promoted_at")


class ModelVersions(PagedView):
    """The versions of a project's model."""

    @extend_schema(operation_id="list_models", responses=ModelVersionSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The latest first; for reviewers and managers."""
        versions = find_project(request.user, slug, *STAFF).model_versions.order_by("-number")
        return self.page_of(versions, request, ModelVersionSerializer)


class Promote(APIView):
    """Letting a version serve by hand."""

    @extend_schema(operation_id="promote_model", request=None, responses=ModelVersionSerializer)
    def post(self, request: Request, version_id: int) -> Response:
        """Make a version the champion: the rollback. A manager may."""
        version = (
            ModelVersion.objects.filter(pk=version_id, project__in=visible_projects(request.user))
            .select_related("project")
            .first()
        )
        if version is None:
            raise Missing("model_not_found", "There is no such model, or you are not a member of its project.")
        return Response(ModelVersionSerializer(promote_version(by=caller(request), version=version)).data)
