"""Whether active learning pays: the comparison of acquisition and control, the estimates, the stopping advice."""

from datetime import datetime
from typing import ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.proof.history import GenerationResult, advise, history_of
from annotation.loop.proof.lane_estimates import LaneEstimates, estimates_of
from prm.acquisition.stopping import Advice


class ComparisonRow(Row):
    paths: ClassVar[dict[str, str]] = {"run": "run.number", "snapshot": "snapshot.sha256"}

    generation: int
    run: int
    snapshot: str
    start_labels: Count
    acquisition_labels: Count
    control_labels: Count
    acquisition_seconds: float
    control_seconds: float
    start_f1: float | None
    acquisition_f1: float
    control_f1: float
    gain: float
    low: float | None
    high: float | None
    holdout_solutions: Count
    holdout_problems: Count
    created_at: datetime


class LearningReport(msgspec.Struct):
    comparisons: list[ComparisonRow]
    estimates: list[LaneEstimates]
    history: list[GenerationResult]
    advice: Advice


class Learning(APIView):
    """Whether active learning pays in a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_learning", responses=LearningReport)
    def get(self, request: Request, slug: str) -> Response:
        """Acquisition against control on equal time, estimates for the pool, and the stopping advice.

        Reviewers and managers only.
        """
        project = find_project(request.user, slug, *STAFF)
        history = history_of(project)
        comparisons = project.shadow_comparisons.select_related("run", "snapshot")
        return Response(
            LearningReport(
                comparisons=[ComparisonRow.of(comparison) for comparison in comparisons],
                estimates=estimates_of(project),
                history=history,
                advice=advise(history),
            )
        )
