"""Sources of labels against each other, two by two."""

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.contrast import contrasts
from annotation.models import LabelSource


class SourceSerializer(serializers.ModelSerializer):
    class Meta:
        model = LabelSource
        fields = ("id", "kind", "name", "detail")
        read_only_fields = fields


class ContrastSerializer(serializers.Serializer):
    """Pairs of labels by two sources on one solution: how many of them name the same first error, and who finds one."""

    one = SourceSerializer()
    other = SourceSerializer()
    pairs = serializers.IntegerField(min_value=0)
    exact = serializers.IntegerField(min_value=0, help_text="Pairs with the same first error, or both with none.")
    within_one = serializers.IntegerField(min_value=0, help_text="The same or a neighbouring one.")
    both = serializers.IntegerField(min_value=0, help_text="Both find an error.")
    neither = serializers.IntegerField(min_value=0)
    only_one = serializers.IntegerField(min_value=0)
    only_other = serializers.IntegerField(min_value=0)


class Contrasts(APIView):
    """How sources of labels agree."""

    @extend_schema(operation_id="list_contrasts", responses=ContrastSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Every two sources that labelled a solution in common; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        rows: list[dict[str, Any]] = [
            {"one": one, "other": other, **asdict(found)} for one, other, found in contrasts(project)
        ]
        return Response(ContrastSerializer(rows, many=True).data)
