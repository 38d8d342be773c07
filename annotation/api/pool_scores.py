"""A model's scores of the pool: progress, a check of stored scores, and scoring again."""

from datetime import datetime
from typing import Annotated, Any

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.model_versions import find_version
from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF
from annotation.loop.pool.scoring import rescore_pool
from annotation.models import ModelVersion, PoolScoring


class PoolScoringRow(Row):
    """Progress of scoring. `error` says why scoring failed; a person must start it again."""

    state: PoolScoring.State
    wanted: Count
    left: Annotated[Count, Meta(description="Number of solutions still to score.")]
    steps: Count
    seconds: float
    cut_at: datetime | None
    finished_at: datetime | None
    error: str
    agreement: Annotated[
        dict[str, Any],
        Meta(description="Agreement of a sample of stored scores with fresh ones; empty before the first check."),
    ]
    checked_at: datetime | None


class PoolScores(APIView):
    """A model's scores of the pool."""

    @extend_schema(operation_id="get_pool_scoring", responses=PoolScoringRow)
    def get(self, request: Request, version_id: int) -> Response:
        """Progress of scoring. Reviewers and managers only."""
        return Response(_state(find_version(request, version_id, *STAFF)))

    @extend_schema(operation_id="rescore_pool", request=None, responses={202: PoolScoringRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Delete every stored score of the model and score the pool again. Managers only."""
        version = find_version(request, version_id)
        rescore_pool(by=caller(request), version=version)
        return Response(_state(version), status=202)


def _state(version: ModelVersion) -> PoolScoringRow:
    none_yet = PoolScoring(model_version=version, state=PoolScoring.State.DONE)
    return PoolScoringRow.of(PoolScoring.objects.filter(model_version=version).first() or none_yet)
