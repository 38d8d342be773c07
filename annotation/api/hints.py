"""What hints do to labels, for programs."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.gold import ShareSerializer
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.hint_effects import compare_hints
from annotation.models import Hint


class GapSerializer(serializers.Serializer):
    """The hinted arm against the blind one, with its 95 % interval."""

    value = serializers.FloatField()
    low = serializers.FloatField()
    high = serializers.FloatField()


class PaceSerializer(serializers.Serializer):
    """Seconds a step: the geometric mean over labels, with its 95 % interval."""

    count = serializers.IntegerField(min_value=0)
    seconds = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class ArmSerializer(serializers.Serializer):
    labels = serializers.IntegerField(min_value=0)
    agrees = ShareSerializer(help_text="Labels with the model's first error, or none where it finds none.")
    finds = ShareSerializer(help_text="Labels that find an error.")
    right = ShareSerializer(help_text="Labels that are right, where the first error is known.")
    misled = ShareSerializer(help_text="Labels that say what the model says, where that is known to be wrong.")
    pace = PaceSerializer()


class GapsSerializer(serializers.Serializer):
    """Differences of shares; of `pace` the ratio."""

    agrees = GapSerializer(allow_null=True)
    finds = GapSerializer(allow_null=True)
    right = GapSerializer(allow_null=True)
    misled = GapSerializer(allow_null=True)
    pace = GapSerializer(allow_null=True)


class HintComparisonSerializer(serializers.Serializer):
    """Labels with a hint and without one, of people's first submissions, where hints were drawn in one way."""

    share = serializers.FloatField(source="design.share", help_text="Of solutions with a hint, as it was drawn.")
    reveal = serializers.ChoiceField(Hint.Reveal.choices, source="design.reveal")
    since = serializers.DateTimeField()
    until = serializers.DateTimeField()
    hinted = ArmSerializer()
    blind = ArmSerializer()
    gaps = GapsSerializer()
    opened = ShareSerializer(help_text="Hinted labels in which a score was seen at all.")
    changed = ShareSerializer(help_text="Own ratings, there before the score was seen, that were changed after it.")


class HintComparisons(APIView):
    """What the model's scores beside the work do to labels."""

    @extend_schema(operation_id="compare_hints", responses=HintComparisonSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The two arms of each way in which hints were drawn, the latest first; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return Response(HintComparisonSerializer(compare_hints(project), many=True).data)
