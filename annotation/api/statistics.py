"""Statistics of a project. The project page shows them as charts."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.agreement import Agreement, first_error_agreement
from annotation.labels.quality.statistics import labels_of, lanes_of_open_generation
from annotation.models import Lane


class LaneFigures(msgspec.Struct):
    lane: Lane
    items: Count
    wanted: Annotated[Count, Meta(description="Annotations wanted.")]
    done: Annotated[Count, Meta(description="Annotations submitted.")]


class LabelFigures(msgspec.Struct):
    total: Count
    first_errors: Annotated[Count, Meta(description="Annotations that found an error.")]
    median_seconds: Annotated[float | None, Meta(description="Median time of one annotation.")]


class Statistics(msgspec.Struct):
    labels: LabelFigures
    lanes: list[LaneFigures]
    agreement: Agreement


class ProjectStatistics(APIView):
    """Progress of the project."""

    @extend_schema(operation_id="get_statistics", responses=Statistics)
    def get(self, request: Request, slug: str) -> Response:
        """Labels so far, the open generation by lane, and agreement. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            Statistics(
                labels=LabelFigures(**labels_of(project)),
                lanes=[LaneFigures(**row) for row in lanes_of_open_generation(project)],
                agreement=first_error_agreement(project),
            )
        )
