"""Scores of solutions by the model that serves a project."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.fields import IdField
from annotation.api.texts import MOST_SOLUTIONS, TextSerializer
from annotation.core.membership.access import find_project
from annotation.loop.gateway.serving_model import AGGREGATES, Scored
from annotation.serving import scoring_requests
from annotation.serving.messages import Served

TIMEOUT, LONGEST_TIMEOUT = 20.0, 55.0


class Asked(serializers.Serializer):
    """What every request for scores says."""

    project = serializers.SlugField(max_length=80, help_text="The project whose model scores.")
    domain = serializers.CharField(
        default="",
        allow_blank=True,
        max_length=100,
        help_text="A domain that has a champion of its own is scored by it.",
    )
    model = serializers.IntegerField(
        required=False, min_value=1, max_value=2**31 - 1, help_text="Number of a model version; else the champion."
    )
    aggregate = serializers.ChoiceField(AGGREGATES, default="product", help_text="How steps make the solution's score.")
    timeout = serializers.FloatField(default=TIMEOUT, min_value=0.1, max_value=LONGEST_TIMEOUT, help_text="Seconds.")


class ScoreRequestSerializer(Asked, TextSerializer):
    """One solution at the top, or many in `solutions`."""

    solutions = serializers.ListField(child=TextSerializer(), required=False, min_length=1, max_length=MOST_SOLUTIONS)

    def validate(self, given: dict[str, Any]) -> dict[str, Any]:
        if "solutions" not in given:
            return super().validate(given)
        if any(name in given for name in ("problem", "steps", "text", "messages")):
            raise serializers.ValidationError(_("Give one solution at the top, or many in `solutions`: not both."))
        return given


class StepScoreSerializer(serializers.Serializer):
    """A step's score; null throughout where the step did not fit the model's context."""

    mean = serializers.FloatField(allow_null=True, help_text="p(the step is no error | those before are good).")
    spread = serializers.FloatField(allow_null=True, help_text="Standard deviation over the ensemble.")


class SolutionScoreSerializer(serializers.Serializer):
    """A solution's scores and the verdict on it."""

    score = serializers.FloatField(allow_null=True, help_text="The steps' means by the chosen aggregate.")
    steps = StepScoreSerializer(many=True)
    first_suspicious = serializers.IntegerField(
        allow_null=True, help_text="The first step below the model's threshold, from 0; -1: none; null: cannot be told."
    )
    uncertainty = serializers.FloatField(
        allow_null=True, help_text="The model's own probability that `first_suspicious` is wrong."
    )
    abstained = serializers.BooleanField(
        allow_null=True,
        help_text="Do not rely on the verdict: its uncertainty is beyond the calibrated bar, or the text is out of "
        "domain. null: the model has no bar.",
    )
    out_of_domain = serializers.BooleanField(
        allow_null=True, help_text="Unlike what the model learned from; null: the model cannot tell."
    )
    unscored_steps = serializers.IntegerField()


class ServedBySerializer(serializers.Serializer):
    """Which model answered."""

    id = IdField()
    number = serializers.IntegerField()
    sha256 = serializers.CharField(help_text="Of its weights.")
    snapshot = serializers.IntegerField(allow_null=True, help_text="Id of the labels it learned from.")
    snapshot_sha256 = serializers.CharField(allow_null=True)
    threshold = serializers.FloatField()


class ScoresSerializer(serializers.Serializer):
    request_id = serializers.UUIDField(help_text="Finds these scores in the score log.")
    model = ServedBySerializer()
    aggregate = serializers.ChoiceField(AGGREGATES)
    results = SolutionScoreSerializer(many=True)


class Scores(APIView):
    """Scoring by the model that serves."""

    asks_a_worker = True

    @extend_schema(operation_id="score", request=ScoreRequestSerializer, responses=ScoresSerializer)
    def post(self, request: Request) -> Response:
        """Score one solution or many; results stand in the order of the solutions. For members of the project."""
        given = ScoreRequestSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        said = given.validated_data
        texts = [one["as_text"] for one in said.get("solutions", [said])]
        request_id, answer = scoring_requests.ask_worker(
            by=caller(request),
            token=token_of(request),
            project=find_project(request.user, said["project"]),
            texts=texts,
            domain=said["domain"],
            number=said.get("model"),
            aggregate=said["aggregate"],
            timeout=said["timeout"],
        )
        assert answer.served is not None, "an answer that is no failure names its model"
        return Response(
            {
                "request_id": request_id,
                "model": presented_model(answer.served),
                "aggregate": said["aggregate"],
                "results": [presented(one) for one in answer.results],
            }
        )


def presented_model(served: Served) -> dict[str, Any]:
    return {name: getattr(served, name) for name in served.__struct_fields__}


def presented(one: Scored) -> dict[str, Any]:
    return {
        "score": one.score,
        "steps": [{"mean": mean, "spread": spread} for mean, spread in zip(one.mean, one.spread, strict=True)],
        "first_suspicious": one.first_suspicious,
        "uncertainty": one.uncertainty,
        "abstained": one.abstained,
        "out_of_domain": one.out_of_domain,
        "unscored_steps": one.mean.count(None),
    }
