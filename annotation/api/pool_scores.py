"""A version's scores of the pool: how far they are, whether they hold, scoring anew."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import JSONObjectField, MessageField
from annotation.api.model_versions import find_version
from annotation.core.membership.access import STAFF
from annotation.loop.pool.scoring import rescore_pool
from annotation.loop.pool.shards import left_of
from annotation.models import ModelVersion, PoolScoring


class PoolScoringSerializer(serializers.ModelSerializer):
    """Of the solutions that were last looked for. `error` says why scoring ended; a person starts it again."""

    error = MessageField()
    left = serializers.SerializerMethodField(help_text="Solutions yet to score.")
    agreement = JSONObjectField(help_text="How a sample of the stored scores agreed with fresh ones; empty before.")

    class Meta:
        model = PoolScoring
        fields = ("wanted", "left", "steps", "seconds", "cut_at", "finished_at", "error", "agreement", "checked_at")

    def get_left(self, scoring: PoolScoring) -> int:
        return left_of(scoring.model_version)


class PoolScores(APIView):
    """The scores of the pool by a version."""

    @extend_schema(operation_id="get_pool_scoring", responses=PoolScoringSerializer)
    def get(self, request: Request, version_id: int) -> Response:
        """How far it is; for reviewers and managers."""
        return Response(_state(find_version(request, version_id, *STAFF)))

    @extend_schema(operation_id="rescore_pool", request=None, responses={202: PoolScoringSerializer})
    def post(self, request: Request, version_id: int) -> Response:
        """Throw every stored score of the version away and compute them again. A manager may."""
        version = find_version(request, version_id)
        rescore_pool(by=caller(request), version=version)
        return Response(_state(version), status=202)


def _state(version: ModelVersion) -> dict:
    scoring = PoolScoring.objects.filter(model_version=version).first() or PoolScoring(model_version=version)
    return dict(PoolScoringSerializer(scoring).data)
