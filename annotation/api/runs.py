"""Rounds: begin one, watch it, call it off."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import MessageField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project
from annotation.core.wording import in_reader_words
from annotation.loop.rounds import runs
from annotation.models import RunPoint, RunStage, TrainingRun
from prm.messages import Message

LATEST_POINTS = 500


class StageSerializer(serializers.ModelSerializer):
    figure = MessageField()

    class Meta:
        model = RunStage
        fields = ("name", "state", "progress", "figure", "attempts", "seconds", "started_at", "finished_at")


class PointSerializer(serializers.ModelSerializer):
    message = MessageField()

    class Meta:
        model = RunPoint
        fields = ("stage", "step", "of", "loss", "held_loss", "tokens_per_second", "utilisation", "message", "at")


class RunSerializer(serializers.ModelSerializer):
    project = serializers.CharField(source="project.slug", read_only=True)
    reason = MessageField()
    error = MessageField()
    stages = StageSerializer(many=True, read_only=True)
    model_version = serializers.SerializerMethodField(help_text="Number of the version that it made.")
    gate = serializers.SerializerMethodField(help_text="The verdict; null before there is one.")

    class Meta:
        model = TrainingRun
        fields = [
            "project", "number", "state", "trigger", "reason", "failure", "error", "retries",
            "created_at", "started_at", "finished_at",
            "model_version", "gate", "stages",
        ]  # fmt: skip

    def get_model_version(self, run: TrainingRun) -> int | None:
        return run.model_version.number if run.model_version else None

    def get_gate(self, run: TrainingRun) -> dict | None:
        return (in_reader_words(run.model_version.gate) or None) if run.model_version else None


class WatchedRunSerializer(RunSerializer):
    points = serializers.SerializerMethodField(help_text=f"The latest {LATEST_POINTS} lines of its log, oldest first.")

    class Meta(RunSerializer.Meta):
        fields = [*RunSerializer.Meta.fields, "points"]

    @extend_schema_field(PointSerializer(many=True))
    def get_points(self, run: TrainingRun) -> list[dict]:
        return list(PointSerializer(reversed(run.points.order_by("-pk")[:LATEST_POINTS]), many=True).data)


class Runs(PagedView):
    """The rounds of a project."""

    @extend_schema(operation_id="list_runs", responses=RunSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's runs, the latest first; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(_described().filter(project=project).order_by("-number"), request, RunSerializer)

    @extend_schema(operation_id="start_run", request=None, responses={202: RunSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Begin a round: train, gate, promote, score the pool, open the next generation. A manager may."""
        run = runs.request_run(by=caller(request), project=find_project(request.user, slug))
        return Response(RunSerializer(run).data, status=202)


class RunDetail(APIView):
    """One round."""

    @extend_schema(operation_id="get_run", responses=WatchedRunSerializer)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A run with its stages, its log and the gate's verdict; for reviewers and managers."""
        return Response(WatchedRunSerializer(_find_run(request, slug, number)).data)


class CancelRun(APIView):
    """Calling a round off."""

    @extend_schema(operation_id="cancel_run", request=None, responses=RunSerializer)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """End a run; one that a worker is at ends within seconds. A manager may."""
        run = runs.cancel_run(by=caller(request), run=_find_run(request, slug, number))
        return Response(RunSerializer(run).data)


class RetryRun(APIView):
    """Taking a round up again."""

    @extend_schema(operation_id="retry_run", request=None, responses={202: RunSerializer})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Go on with a failed or cancelled run, from the stage where it ended. A manager may; of the latest run."""
        run = runs.retry_run(by=caller(request), run=_find_run(request, slug, number))
        return Response(RunSerializer(run).data, status=202)


def _described() -> QuerySet[TrainingRun]:
    return TrainingRun.objects.select_related("project", "model_version").prefetch_related("stages")


def _find_run(request: Request, slug: str, number: int) -> TrainingRun:
    run = _described().filter(project=find_project(request.user, slug, *STAFF), number=number).first()
    if run is None:
        raise Missing("run_not_found", Message("run_not_found", n=number))
    return run
