"""Figures of a project's work, for programs; the project page shows them with charts."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.agreement import first_error_agreement
from annotation.labels.quality.statistics import labels_of, lanes_of_open_generation
from annotation.models import Lane


class LaneSerializer(serializers.Serializer):
    lane = serializers.ChoiceField(Lane.choices)
    items = serializers.IntegerField(min_value=0)
    wanted = serializers.IntegerField(min_value=0, help_text="Annotations wanted.")
    done = serializers.IntegerField(min_value=0, help_text="Annotations given.")


class LabelsSerializer(serializers.Serializer):
    total = serializers.IntegerField(min_value=0)
    first_errors = serializers.IntegerField(min_value=0, help_text="Annotations that found an error.")
    median_seconds = serializers.FloatField(allow_null=True, help_text="What one annotation costs.")


class AgreementSerializer(serializers.Serializer):
    """Of pairs of people on the same solution."""

    solutions = serializers.IntegerField(min_value=0)
    pairs = serializers.IntegerField(min_value=0)
    exact = serializers.FloatField(allow_null=True, help_text="Share with the same first error.")
    within_one = serializers.FloatField(allow_null=True, help_text="Share with the same or a neighbouring one.")


class StatisticsSerializer(serializers.Serializer):
    labels = LabelsSerializer()
    lanes = LaneSerializer(many=True)
    agreement = AgreementSerializer()


class ProjectStatistics(APIView):
    """How the work goes."""

    @extend_schema(operation_id="get_statistics", responses=StatisticsSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Labels so far, the open generation by lane, and agreement; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            {
                "labels": labels_of(project),
                "lanes": lanes_of_open_generation(project),
                "agreement": asdict(first_error_agreement(project)),
            }
        )
