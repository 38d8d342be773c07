"""Runs: start a round, watch it, cancel it, retry it."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import STAFF, find_project
from annotation.core.wording import in_reader_words
from annotation.loop.rounds import runs
from annotation.models import RunStage, TrainingRun
from prm.messages import Message

LATEST_POINTS = 500


class StageRow(Row):
    name: RunStage.Name
    state: RunStage.State
    progress: float
    figure: str
    attempts: Count
    seconds: float
    started_at: datetime | None
    finished_at: datetime | None


class PointRow(Row):
    stage: RunStage.Name
    step: Count | None
    of_: Count | None = msgspec.field(name="of")
    loss: float | None
    held_loss: float | None
    tokens_per_second: float | None
    utilisation: float | None
    message: str
    at: datetime


class RunRow(Row):
    project: str
    number: int
    state: TrainingRun.State
    trigger: TrainingRun.Trigger
    reason: str
    failure: str
    error: str
    retries: Count
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    model_version: Annotated[int | None, Meta(description="Number of the model that the run trained.")]
    gate: Annotated[dict[str, Any] | None, Meta(description="The gate's verdict; null before the gate.")]
    stages: list[StageRow]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        version = row.model_version
        return super().of(
            row,
            project=row.project.slug,
            model_version=version and version.number,
            gate=(in_reader_words(version.gate) or None) if version else None,
            stages=[StageRow.of(stage) for stage in row.stages.all()],
            **others,
        )


class WatchedRun(RunRow):
    points: Annotated[list[PointRow], Meta(description=f"The latest {LATEST_POINTS} lines of its log, oldest first.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        latest = reversed(row.points.order_by("-pk")[:LATEST_POINTS])
        return super().of(row, points=[PointRow.of(point, of_=point.of) for point in latest], **others)


class Runs(PagedView):
    """The rounds of a project."""

    @extend_schema(operation_id="list_runs", responses=Page[RunRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's runs, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(_described().filter(project=project).order_by("-number"), request, RunRow.of)

    @extend_schema(operation_id="start_run", request=None, responses={202: RunRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a round: train, gate, promote, score the pool, open the next generation. Managers only."""
        run = runs.request_run(by=caller(request), project=find_project(request.user, slug))
        return Response(RunRow.of(run), status=202)


class RunDetail(APIView):
    """One round."""

    @extend_schema(operation_id="get_run", responses=WatchedRun)
    def get(self, request: Request, slug: str, number: int) -> Response:
        """A run with its stages, its log and the gate's verdict. Reviewers and managers only."""
        return Response(WatchedRun.of(_find_run(request, slug, number)))


class CancelRun(APIView):
    """Cancelling a run."""

    @extend_schema(operation_id="cancel_run", request=None, responses=RunRow)
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Cancel a run. A running one stops within seconds. Managers only."""
        run = cancel_job(by=caller(request), job=_find_run(request, slug, number))
        return Response(RunRow.of(run))


class RetryRun(APIView):
    """Retrying a run."""

    @extend_schema(operation_id="retry_run", request=None, responses={202: RunRow})
    def post(self, request: Request, slug: str, number: int) -> Response:
        """Resume the latest run, if it failed or was cancelled, from the stage where it ended. Managers only."""
        run = runs.retry_run(by=caller(request), job=_find_run(request, slug, number))
        return Response(RunRow.of(run), status=202)


def _described() -> QuerySet[TrainingRun]:
    return TrainingRun.objects.select_related("project", "model_version").prefetch_related("stages")


def _find_run(request: Request, slug: str, number: int) -> TrainingRun:
    run = _described().filter(project=find_project(request.user, slug, *STAFF), number=number).first()
    if run is None:
        raise Missing(Message("run_not_found", n=number))
    return run
