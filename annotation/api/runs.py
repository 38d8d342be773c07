"""Rounds: list them and start one."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, about
from annotation.core.membership.access import STAFF, find_project
from annotation.loop import registry
from annotation.loop.registry.power import GatePower
from annotation.loop.rounds import runs
from annotation.models import RunStage, TrainingRun
from annotation.models.model_version import Verdict

LATEST_POINTS = 500


class StageRow(Row):
    name: RunStage.Name
    state: RunStage.State
    progress: Annotated[float, about("The share that is done, from 0 to 1.")]
    figure: Annotated[str, about("The main figure of the result; empty or null for none.")]
    attempts: Annotated[Count, about("How often the stage was started.")]
    seconds: Annotated[float, about("How long it has taken, in seconds.")]
    started_at: datetime | None
    finished_at: datetime | None


class PointRow(Row):
    stage: Annotated[RunStage.Name, about("The stage of the round.")]
    step: Annotated[Count | None, about("The training step; null in other stages.")]
    of_: Annotated[Count | None, about("Number of training steps; null in other stages.")] = msgspec.field(name="of")
    loss: Annotated[float | None, about("Training loss; null in other stages.")]
    held_loss: Annotated[float | None, about("Loss on held-out data; null if unknown.")]
    tokens_per_second: Annotated[float | None, about("Tokens per second; null if unknown.")]
    utilisation: Annotated[float | None, about("Use of the device, from 0 to 1; null if unknown.")]
    message: Annotated[str, about("The line that the library wrote.")]
    at: Annotated[datetime, about("When it was measured.")]


class RunRow(JobRow):
    number: int
    trigger: Annotated[TrainingRun.Trigger, about("What started the round.")]
    reason: Annotated[str, about("The reason in words; empty for none.")]
    model_version: Annotated[int | None, about("Number of the model trained or, after an import, measured.")]
    gate: Annotated[Verdict | None, about("The gate's verdict; null before the gate.")]
    stages: Annotated[list[StageRow], about("The stages, in order.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        version = row.model_version
        return super().of(
            row,
            model_version=version and version.number,
            gate=version and version.gate,
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

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_runs", responses=Page[RunRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's runs, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        rows = project.training_runs.select_related("project", "requested_by", "model_version")
        return self.page_of(rows.prefetch_related("stages"), request, RunRow.of)

    @extend_schema(operation_id="start_run", request=None, responses={202: RunRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a round: train, gate, promote, score the pool, open the next generation. Managers only."""
        run = runs.request_run(by=caller(request), project=find_project(request.user, slug))
        return Response(RunRow.of(run), status=202)


class GateForecast(APIView):
    """What the gate of the next round could detect."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="forecast_gate", responses=GatePower)
    def get(self, request: Request, slug: str) -> Response:
        """The gain that the labelled holdout would show now, and the labels that two points need.

        Reviewers and managers only.
        """
        return Response(registry.forecast_gate(find_project(request.user, slug, *STAFF)))
