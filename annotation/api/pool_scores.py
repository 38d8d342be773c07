"""A version's scores of the pool: how far they are, whether they hold, scoring anew."""

from datetime import datetime
from typing import Annotated

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
from annotation.models.pool_score import ScoreAgreement


class PoolScoringRow(Row):
    """Of the solutions that were last looked for. `error` says why scoring ended; a person starts it again."""

    state: PoolScoring.State
    wanted: Count
    left: Annotated[Count, Meta(description="Solutions yet to score.")]
    steps: Count
    seconds: float
    cut_at: datetime | None
    finished_at: datetime | None
    error: str
    agreement: Annotated[ScoreAgreement | None, Meta(description="Of a sample; null before the first check.")]
    checked_at: datetime | None


class PoolScores(APIView):
    """The scores of the pool by a version."""

    @extend_schema(operation_id="get_pool_scoring", responses=PoolScoringRow)
    def get(self, request: Request, version_id: int) -> Response:
        """How far it is; for reviewers and managers."""
        return Response(_state(find_version(request, version_id, *STAFF)))

    @extend_schema(operation_id="rescore_pool", request=None, responses={202: PoolScoringRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Throw every stored score of the version away and compute them again. A manager may."""
        version = find_version(request, version_id)
        rescore_pool(by=caller(request), version=version)
        return Response(_state(version), status=202)


def _state(version: ModelVersion) -> PoolScoringRow:
    none_yet = PoolScoring(model_version=version, state=PoolScoring.State.DONE)
    return PoolScoringRow.of(PoolScoring.objects.filter(model_version=version).first() or none_yet)
