"""Whether active learning pays: the comparison of acquisition and control, the estimates, the stopping advice."""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count, about
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.proof.history import GenerationResult, advise, history_of
from annotation.loop.proof.lane_estimates import LaneEstimates, estimates_of
from prm.acquisition.stopping import Advice


class ComparisonRow(Row):
    paths: ClassVar[dict[str, str]] = {"run": "run.number", "snapshot": "snapshot.sha256"}

    generation: Annotated[int, about("The latest generation with labels in the comparison.")]
    run: Annotated[int, about("The number of the round; null for none.")]
    snapshot: Annotated[str, about("The training data.")]
    start_labels: Annotated[Count, about("Labels that both models are trained on.")]
    acquisition_labels: Annotated[Count, about("Labels of the acquisition lane.")]
    control_labels: Annotated[Count, about("Labels of the control lane.")]
    acquisition_seconds: Annotated[float, about("Labelling time of the acquisition lane, in seconds.")]
    control_seconds: float
    start_f1: Annotated[
        float | None, about("ProcessBench F1 of a model trained on the start labels only; null if unknown.")
    ]
    acquisition_f1: Annotated[float, about("ProcessBench F1 of the model trained on the acquisition lane.")]
    control_f1: Annotated[float, about("ProcessBench F1 of the model trained on the control lane.")]
    gain: Annotated[float, about("Acquisition minus control, in ProcessBench F1.")]
    low: float | None
    high: float | None
    holdout_solutions: Count
    holdout_problems: Annotated[Count, about("Number of holdout problems.")]
    created_at: datetime


class LearningReport(msgspec.Struct):
    comparisons: Annotated[list[ComparisonRow], about("Acquisition against control, a comparison for each generation.")]
    estimates: Annotated[list[LaneEstimates], about("Estimates for the whole pool, by lane.")]
    history: Annotated[list[GenerationResult], about("The results of each generation.")]
    advice: Annotated[Advice, about("Whether to go on labelling.")]


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
