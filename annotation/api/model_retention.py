"""Which models keep their weights."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import STAFF, find_project
from annotation.loop.model_jobs.retention import due_versions


class Retention(msgspec.Struct):
    """Model numbers by what happens to their weights."""

    keep_models: Annotated[int, Meta(description="Number of latest models that the policy keeps.")]
    pinned: list[int]
    due: Annotated[list[int], Meta(description="Models whose weights the next hourly sweep deletes.")]
    deleted: Annotated[list[int], Meta(description="Models whose weights were deleted.")]


class ModelRetention(APIView):
    """The effect of a project's retention policy."""

    @extend_schema(operation_id="get_model_retention", responses=Retention)
    def get(self, request: Request, slug: str) -> Response:
        """Models whose weights are kept, due for deletion, and deleted. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        numbers = project.model_versions.order_by("number").values_list("number", flat=True)
        state = Retention(
            keep_models=project.policies.keep_models,
            pinned=list(numbers.filter(pinned=True)),
            due=[version.number for version in due_versions(project)],
            deleted=list(numbers.filter(weights_deleted_at__isnull=False)),
        )
        return Response(state)
