"""Judging runs: labels by a judge, and Monte Carlo estimates of prefixes."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body
from annotation.api.job_rows import EndpointRunRow, JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, JSONObject, Money, about
from annotation.core.lifecycle import find_job
from annotation.core.membership.access import find_project
from annotation.loop.judging.chosen_solutions import JudgingEstimate, LeftOut
from annotation.loop.judging.judging_runs import JudgingPlan, estimate_judging, start_judging
from annotation.models import JudgeCall, JudgingRun, Membership


class JudgingRow(EndpointRunRow):
    """A run that labels solutions with a judge or with Monte Carlo estimates, and what it cost."""

    paths: ClassVar[dict[str, str]] = JobRow.paths | {"annotator": "annotator.pseudonym"}

    method: Annotated[JudgingRun.Method, about("A judge, or Monte Carlo rollouts.")]
    mode: Annotated[JudgingRun.Mode, about("A selection of solutions, or those of the queue.")]
    template: Annotated[str, about("The question to the judge; empty for Monte Carlo.")]
    prompt_version: Annotated[
        str, about("The version of the judge's prompt; a hash after the slash marks an edited text.")
    ]
    annotator: Annotated[str | None, about("The pseudonym of the judge's membership; null for Monte Carlo.")]
    rollouts: Annotated[Count, about("Rollouts from each prefix.")]
    threshold: Annotated[float, about("A step is good if the share of right rollouts behind it is above this.")]
    search: Annotated[JudgingRun.Search, about("Which prefixes are estimated.")]
    chosen: Annotated[JSONObject, about("The filter of the solutions; empty in queue mode.")]
    left_out: LeftOut
    cost_budget: Annotated[Money, about("The most that the run may cost; 0 for no limit.")]
    prompt_price: Annotated[Money, about("Price per million tokens of prompts, at the start.")]
    completion_price: Annotated[Money, about("Price per million tokens of replies, at the start.")]
    currency: Annotated[str, about("The currency of prices and costs.")]
    solutions: Annotated[Count, about("Solutions that were chosen, or claimed from the queue so far.")]
    labelled: Annotated[Count, about("Solutions that got a label.")]
    failed_solutions: Annotated[Count, about("Solutions without a label because of an error.")]
    cost: Annotated[Money, about("Cost so far, in the currency.")]
    cost_per_label: Annotated[Money | None, about("Cost divided by labels; null without labels.")]

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
    annotation: Annotated[Id | None, about("The label that the solution got; null without one.")]
    attempt: Annotated[Count, about("Its number among the calls for the solution, from 0.")]
    prefix: Annotated[Count, about("Number of steps that the request showed.")]
    samples: Annotated[Count, about("How many replies were requested.")]
    state: Annotated[
        JudgeCall.State,
        about("In flight, answered, lost (no answer, but it may have cost money) or failed (cost nothing)."),
    ]
    metered: Annotated[
        bool, about("Whether the server reported the tokens. If not, the most that it may have used counts.")
    ]
    prompt_tokens: Annotated[Count, about("Tokens of the prompt.")]
    completion_tokens: Annotated[
        Count, about("Tokens of the replies; the most that they may have if the call is not metered.")
    ]
    cost: Annotated[Money, about("What the call cost, in the currency of the run.")]
    replies: Annotated[list[str], about("The texts of the replies.")]
    right: Annotated[Count | None, about("Rollouts with the right final answer; null for a judge.")]
    error: Annotated[str, about("Why there is no usable reply.")]
    sent_at: Annotated[datetime, about("When the request was sent.")]
    ended_at: Annotated[datetime | None, about("When the reply arrived; null before that.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, cost=float(row.cost), **others)


class Judgings(PagedView):
    """The judging runs of a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_judgings", request=None, responses=Page[JudgingRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's judging runs, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        runs = JudgingRun.objects.filter(project=project).select_related("project", "requested_by", "annotator")
        return self.page_of(runs, request, JudgingRow.of)

    @extend_schema(operation_id="start_judging", request=JudgingPlan, responses={202: JudgingRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that labels the chosen solutions, or those of the queue. Managers only.

        Solutions that measure people or models are left out. The run never exceeds its budgets.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        plan = read_body(request, JudgingPlan)
        return Response(JudgingRow.of(start_judging(by=caller(request), project=project, plan=plan)), status=202)


class JudgingEstimates(APIView):
    """What judging would cost."""

    scopes = {"POST": "read"}

    @extend_schema(operation_id="estimate_judging", request=JudgingPlan, responses=JudgingEstimate)
    def post(self, request: Request, slug: str) -> Response:
        """Estimate the calls, tokens and cost of a run without starting it. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        plan = read_body(request, JudgingPlan)
        return Response(estimate_judging(by=caller(request), project=project, plan=plan))


class JudgeCalls(PagedView):
    """The calls of a judging run."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_judge_calls", responses=Page[JudgeCallRow])
    def get(self, request: Request, slug: str, run_id: int) -> Response:
        """The calls of a run with their replies, oldest first. Managers only."""
        run = find_job(find_project(request.user, slug, Membership.Role.MANAGER), JudgingRun.KIND, run_id)
        calls = JudgeCall.objects.filter(judged__run=run.pk).select_related("judged")
        return self.page_of(calls, request, JudgeCallRow.of)
