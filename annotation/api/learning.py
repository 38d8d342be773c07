"""Does active learning pay here: the live comparison, the weighted estimates and the stopping advice."""

from dataclasses import asdict

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.fields import MessageField
from annotation.core.membership.access import STAFF, find_project
from annotation.loop.gateway.stopping import advise
from annotation.loop.proof.history import decided_rounds, history_of
from annotation.loop.proof.lane_estimates import estimates_of
from annotation.models import Lane, ShadowComparison


class ComparisonSerializer(serializers.ModelSerializer):
    run = serializers.IntegerField(source="run.number", read_only=True)
    snapshot = serializers.CharField(source="snapshot.sha256", read_only=True)

    class Meta:
        model = ShadowComparison
        fields = [
            "generation", "run", "snapshot", "start_labels", "acquisition_labels", "control_labels",
            "acquisition_seconds", "control_seconds", "start_f1", "acquisition_f1", "control_f1", "gain", "low", "high",
            "holdout_solutions", "holdout_problems", "created_at",
        ]  # fmt: skip


class WeightedSerializer(serializers.Serializer):
    """A mean over the pool, weighted by inclusion probabilities, with its 95 % interval."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)
    naive = serializers.FloatField(help_text="The plain mean of the labels.")
    n = serializers.IntegerField()
    effective = serializers.FloatField(help_text="As many labels of equal weight would tell as much.")


class LaneEstimatesSerializer(serializers.Serializer):
    generation = serializers.IntegerField()
    lane = serializers.ChoiceField(Lane.choices)
    items = serializers.IntegerField()
    labelled = serializers.IntegerField()
    pool = serializers.IntegerField(help_text="Solutions that could have been chosen.")
    first_error_rate = WeightedSerializer(allow_null=True)
    champion_accuracy = WeightedSerializer(allow_null=True)
    seconds = WeightedSerializer(allow_null=True)


class GenerationSeenSerializer(serializers.Serializer):
    generation = serializers.IntegerField()
    labels = serializers.IntegerField()
    seconds = serializers.FloatField()
    f1 = serializers.FloatField(allow_null=True, help_text="Of the model that serves since, on the holdout.")
    f1_low = serializers.FloatField(allow_null=True)
    f1_high = serializers.FloatField(allow_null=True)
    holdout_gain = serializers.FloatField(allow_null=True, help_text="That model's over the one before.")
    gain = serializers.FloatField(allow_null=True, help_text="Acquisition minus control on equal time.")
    gain_low = serializers.FloatField(allow_null=True)
    gain_high = serializers.FloatField(allow_null=True)
    acquired_gain = serializers.FloatField(allow_null=True, help_text="What acquisition taught beyond the start.")
    acquired_seconds = serializers.FloatField(allow_null=True)
    control_gain = serializers.FloatField(allow_null=True, help_text="What control taught beyond the start.")
    control_seconds = serializers.FloatField(allow_null=True)
    changed = serializers.FloatField(allow_null=True, help_text="Share of pool verdicts unlike the model before.")


class CriterionSerializer(serializers.Serializer):
    name = serializers.CharField()
    verdict = serializers.ChoiceField(["stop", "continue", "unknown"])
    figure = serializers.FloatField(allow_null=True)
    threshold = serializers.FloatField()
    sentence = MessageField()


class AdviceSerializer(serializers.Serializer):
    stop = serializers.BooleanField()
    criteria = CriterionSerializer(many=True)
    sentence = MessageField()


class LearningSerializer(serializers.Serializer):
    comparisons = ComparisonSerializer(many=True)
    estimates = LaneEstimatesSerializer(many=True)
    history = GenerationSeenSerializer(many=True)
    advice = AdviceSerializer()


class Learning(APIView):
    """Whether active learning pays in a project."""

    @extend_schema(operation_id="get_learning", responses=LearningSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """Acquisition against control on equal time, what labels say of the pool, and whether to go on; for reviewers
        and managers."""
        project = find_project(request.user, slug, *STAFF)
        history = history_of(project)
        comparisons = project.shadow_comparisons.select_related("run", "snapshot")
        return Response(
            {
                "comparisons": ComparisonSerializer(comparisons, many=True).data,
                "estimates": msgspec.to_builtins(estimates_of(project)),
                "history": [asdict(one) for one in history],
                "advice": advise(decided_rounds(history)),
            }
        )
