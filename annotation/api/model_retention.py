"""Which versions keep their weights."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import STAFF, find_project
from annotation.loop.model_jobs.retention import due_versions


class RetentionSerializer(serializers.Serializer):
    """Versions by their numbers."""

    keep_models = serializers.IntegerField(help_text="So many of the latest are kept, by the project's policies.")
    pinned = serializers.ListField(child=serializers.IntegerField())
    due = serializers.ListField(
        child=serializers.IntegerField(), help_text="Those whose weights the next hourly sweep deletes."
    )
    deleted = serializers.ListField(child=serializers.IntegerField(), help_text="Those whose weights are gone.")


class ModelRetention(APIView):
    """What the retention policy of a project keeps."""

    @extend_schema(operation_id="get_model_retention", responses=RetentionSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What is kept, what goes next, what is gone; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        numbers = project.model_versions.order_by("number").values_list("number", flat=True)
        state = {
            "keep_models": project.policies.keep_models,
            "pinned": list(numbers.filter(pinned=True)),
            "due": [version.number for version in due_versions(project)],
            "deleted": list(numbers.filter(weights_deleted_at__isnull=False)),
        }
        return Response(RetentionSerializer(state).data)
