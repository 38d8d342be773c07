"""The caller's own work: how much, how long, how it stands to what is known and to others, and what came back."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.gold import ShareSerializer
from annotation.core.membership.access import find_project, require_role
from annotation.labels.quality.own_work import own_work


class OwnDaySerializer(serializers.Serializer):
    day = serializers.DateField()
    labels = serializers.IntegerField(min_value=0)
    seconds = serializers.FloatField(min_value=0)


class OwnFiguresSerializer(serializers.Serializer):
    """Of the latest revision of each of the caller's labels."""

    today = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)
    median_seconds = serializers.FloatField(allow_null=True, help_text="Of one label.")
    seconds = serializers.FloatField(min_value=0, help_text="Of all.")
    days = OwnDaySerializer(many=True, help_text="The last thirty in the project's time zone, today last.")
    gold = ShareSerializer(
        allow_null=True,
        help_text="Right answers on hidden gold until yesterday; null for fewer than ten, or where the policy "
        "(`feedback.gold`) tells nobody.",
    )
    peers = ShareSerializer(
        allow_null=True,
        help_text="Labels of others on the same solutions, until yesterday, with the same first error; null as above "
        "(`feedback.peers`).",
    )


class MyWork(APIView):
    """The caller's own work."""

    @extend_schema(operation_id="my_work", request=None, responses=OwnFiguresSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """What the caller did in the project, how long it took, and how it stands to what is known and to others."""
        mine = own_work(require_role(request.user, find_project(request.user, slug)))
        days = [{"day": day, **asdict(of)} for day, of in mine.days.items()]
        return Response(OwnFiguresSerializer({**vars(mine), "days": days}).data)
