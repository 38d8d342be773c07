"""Judging runs: labels by a judge, and Monte Carlo estimates of prefixes."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, JSONObject, NonBlank, Position, one_of
from annotation.core.lifecycle import find_job
from annotation.core.membership.access import find_project
from annotation.labels.list_filters import SolutionFilter
from annotation.loop.judging.judging_runs import (
    HIGHEST_TEMPERATURE,
    MOST_MONEY,
    MOST_ROLLOUTS,
    MOST_TOKENS,
    JudgingPlan,
    estimate_judging,
    start_judging,
)
from annotation.loop.judging.templates import TEMPLATES
from annotation.models import JudgeCall, JudgingRun, Membership
from prm.formats.record import LONGEST_PROMPT

Money = Annotated[float, Meta(ge=0)]
LeftOut = Annotated[dict[str, Count], Meta(description="Solutions of the selection that get no label, by reason.")]


class JudgingRow(JobRow):
    """A run that labels solutions with a judge or with Monte Carlo estimates, and what it cost."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)
    paths: ClassVar[dict[str, str]] = JobRow.paths | {"annotator": "annotator.pseudonym"}

    method: JudgingRun.Method
    mode: JudgingRun.Mode
    endpoint: str
    model: str
    template: str
    prompt: str
    prompt_version: str
    annotator: str | None
    temperature: float
    max_tokens: Count
    rollouts: Count
    threshold: float
    search: JudgingRun.Search
    chosen: JSONObject
    left_out: LeftOut
    token_budget: Count
    cost_budget: Money
    prompt_price: Money
    completion_price: Money
    currency: str
    seed: int
    note: Annotated[str, Meta(description="How the run ended, if there is more to report than its state.")]
    solutions: Count
    labelled: Count
    failed_solutions: Count
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost: Money
    cost_per_label: Money | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        annotator = row.annotator and str(row.annotator.pseudonym)
        money = {
            name: float(getattr(row, name)) for name in ("cost_budget", "prompt_price", "completion_price", "cost")
        }
        each = None if row.cost_per_label is None else float(row.cost_per_label)
        return super().of(row, annotator=annotator, **money, cost_per_label=each, **others)


class JudgeCallRow(Row):
    """One request to the endpoint, with its replies."""

    paths: ClassVar[dict[str, str]] = {
        "solution": "judged.solution_id",
        "annotation": "judged.annotation_id",
        "replies": "texts",
    }

    id: Id
    solution: Id
    annotation: Annotated[Id | None, Meta(description="The label that the solution got; null without one.")]
    attempt: Count
    prefix: Count
    samples: Count
    state: JudgeCall.State
    metered: bool
    prompt_tokens: Count
    completion_tokens: Count
    cost: Money
    replies: list[str]
    right: Count | None
    error: str
    sent_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, cost=float(row.cost), **others)


class JudgingToPlan(msgspec.Struct):
    """What to label, and how. `endpoint` is one of the names that the operator configured."""

    method: JudgingRun.Method
    endpoint: Annotated[NonBlank, Meta(max_length=100)]
    mode: JudgingRun.Mode = JudgingRun.Mode.BATCH
    template: Annotated[str, one_of(TEMPLATES)] = "first_error"
    prompt: Annotated[
        str,
        Meta(
            max_length=LONGEST_PROMPT,
            description="A prompt instead of the template's, with {problem} and, for a judge, {steps}.",
        ),
    ] = ""
    temperature: Annotated[float, Meta(ge=0, le=HIGHEST_TEMPERATURE)] | UnsetType = UNSET
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = 2048
    rollouts: Annotated[int, Meta(ge=1, le=MOST_ROLLOUTS)] = 8
    threshold: Annotated[float, Meta(ge=0, lt=1)] = 0.0
    search: JudgingRun.Search = JudgingRun.Search.ALL
    token_budget: Annotated[int, Meta(ge=0, le=2**53)] = 0
    cost_budget: Annotated[float, Meta(ge=0, le=MOST_MONEY)] = 0.0
    seed: Position | UnsetType = UNSET
    chosen: SolutionFilter = msgspec.field(default_factory=SolutionFilter)

    def plan(self) -> JudgingPlan:
        return JudgingPlan(**sent_fields(self))


class JudgingEstimate(msgspec.Struct):
    """What a run would label, and about what it would cost."""

    solutions: Count
    left_out: LeftOut
    calls: Count
    prompt_tokens: Count
    completion_tokens: Count
    cost: Money
    from_limit: bool


class Judgings(PagedView):
    """The judging runs of a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_judgings", request=None, responses=Page[JudgingRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's judging runs, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        runs = JudgingRun.objects.filter(project=project).select_related("project", "requested_by", "annotator")
        return self.page_of(runs, request, JudgingRow.of)

    @extend_schema(operation_id="start_judging", request=JudgingToPlan, responses={202: JudgingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that labels the chosen solutions, or those of the queue. Managers only.

        Solutions that measure people or models are left out. The run never exceeds its budgets.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        plan = read_body(request, JudgingToPlan).plan()
        return Response(JudgingRow.of(start_judging(by=caller(request), project=project, plan=plan)), status=202)


class JudgingEstimates(APIView):
    """What judging would cost."""

    scopes = {"POST": "read"}

    @extend_schema(operation_id="estimate_judging", request=JudgingToPlan, responses=JudgingEstimate)
    def post(self, request: Request, slug: str) -> Response:
        """Estimate the calls, tokens and cost of a run without starting it. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        plan = read_body(request, JudgingToPlan).plan()
        estimate = estimate_judging(by=caller(request), project=project, plan=plan)
        return Response(
            JudgingEstimate(
                estimate.solutions,
                estimate.left_out,
                estimate.calls,
                estimate.prompt_tokens,
                estimate.completion_tokens,
                float(estimate.cost),
                estimate.from_limit,
            )
        )


class JudgeCalls(PagedView):
    """The calls of a judging run."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_judge_calls", responses=Page[JudgeCallRow])
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """The calls of a run with their replies, oldest first. Managers only."""
        run = find_job(find_project(request.user, slug, Membership.Role.MANAGER), JudgingRun.KIND, run_id)
        calls = JudgeCall.objects.filter(judged__run=run.pk).select_related("judged")
        return self.page_of(calls, request, JudgeCallRow.of)
