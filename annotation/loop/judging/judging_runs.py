"""Requests and resumes judging runs."""

from decimal import Decimal
from typing import Annotated, Any

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Count, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce
from msgspec import Meta

from annotation.core import audit
from annotation.core.bounds import NonBlank, Position, about, check_fields, one_of
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import resume_job, send
from annotation.core.membership.access import require_role
from annotation.labels.list_filters import SolutionFilter
from annotation.loop.gateway.policies import (
    HIGHEST_TEMPERATURE,
    MOST_TOKENS,
    PROMPT,
    Prices,
    model_of,
    prices_of,
    proposed_prompt,
)
from annotation.loop.judging.chosen_solutions import JudgingEstimate, choose, estimate
from annotation.loop.judging.judge_members import find_judge, find_or_add_judge
from annotation.loop.judging.templates import STEPS, TEMPLATES
from annotation.loop.selection.generations import new_seed
from annotation.models import JudgeCall, JudgedSolution, JudgingRun, Membership, Project
from prm.formats.record import LONGEST_PROMPT
from prm.messages import Message

Method, Mode, Search = JudgingRun.Method, JudgingRun.Mode, JudgingRun.Search
MOST_ROLLOUTS, MOST_MONEY = 128, 10**8


class JudgingPlan(msgspec.Struct, frozen=True):
    """What to label, and how. `endpoint` is one of the names that the operator configured."""

    method: Annotated[JudgingRun.Method, about("A judge, or Monte Carlo rollouts.")]
    endpoint: Annotated[NonBlank, Meta(max_length=100)]
    mode: Annotated[JudgingRun.Mode, about("A selection of solutions, or those of the queue.")] = Mode.BATCH
    template: Annotated[str, one_of(TEMPLATES), about("The question to the judge.")] = "first_error"
    prompt: Annotated[
        str,
        Meta(max_length=LONGEST_PROMPT),
        about("A prompt instead of the template's or the endpoint's, with {problem} and, for a judge, {steps}."),
    ] = ""
    temperature: Annotated[
        Annotated[float, Meta(ge=0, le=HIGHEST_TEMPERATURE)] | None, about("Default: 0 for a judge, 0.8 for rollouts.")
    ] = None
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = 2048
    rollouts: Annotated[int, Meta(ge=1, le=MOST_ROLLOUTS), about("Rollouts from each prefix.")] = 8
    threshold: Annotated[
        float, Meta(ge=0, lt=1), about("A step is good if the share of right rollouts behind it is above this.")
    ] = 0.0
    search: Annotated[
        JudgingRun.Search,
        about("Which prefixes to estimate: all, those until the first error, or a binary search for it."),
    ] = Search.ALL
    token_budget: Annotated[int, Meta(ge=0, le=2**53)] = 0
    cost_budget: Annotated[
        float, Meta(ge=0, le=MOST_MONEY), about("The most that the run may cost; 0 for no limit.")
    ] = 0.0
    seed: Position | None = None
    chosen: Annotated[
        SolutionFilter, about("The filter of the solutions, with the parameters of the list of solutions.")
    ] = msgspec.field(default_factory=SolutionFilter)


def estimate_judging(*, by: User, project: Project, plan: JudgingPlan) -> JudgingEstimate:
    """What a run of the plan would label and cost. Raises as `start_judging`, without `no_solutions`."""
    require_role(by, project, Membership.Role.MANAGER)
    check_plan(project, plan)
    run = unsaved_run(project, plan)
    return estimate(run, *choose(run, plan.chosen))


@transaction.atomic
def start_judging(*, by: User, project: Project, plan: JudgingPlan) -> JudgingRun:
    """Create a run with its solutions and enqueue it. The judge becomes a machine annotator of the project.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_judging`, `no_solutions`, `invalid`).
    """
    require_role(by, project, Membership.Role.MANAGER)
    check_plan(project, plan)
    run = unsaved_run(project, plan)
    ids: list[int] = []
    if run.mode == Mode.BATCH:
        ids, run.left_out = choose(run, plan.chosen)
        if not ids:
            raise DomainError(Message("no_solution_to_judge"), code="no_solutions")
    if run.method == Method.JUDGE:
        run.annotator = find_or_add_judge(by=by, run=run)
    run.requested_by, run.solutions = by, len(ids)
    run.save()
    JudgedSolution.objects.bulk_create(
        (JudgedSolution(run=run, solution_id=pk, position=position) for position, pk in enumerate(ids)),
        batch_size=5000,
    )
    audit.record(
        by=by,
        action="judging.start",
        target=run,
        after={
            "method": run.method,
            "endpoint": run.endpoint,
            "model": run.model,
            "prompt_version": run.prompt_version,
            "solutions": run.solutions,
        },
    )
    send(run)
    return run


def unsaved_run(project: Project, plan: JudgingPlan) -> JudgingRun:
    """A run with the settings of a valid plan."""
    is_judge = plan.method == Method.JUDGE
    template = TEMPLATES[plan.template] if is_judge else None
    prompt = plan.prompt or (template.text if template else proposed_prompt(plan.endpoint))
    prices = prices_of(plan.endpoint)
    run = JudgingRun(
        project=project,
        method=plan.method,
        mode=plan.mode,
        endpoint=plan.endpoint,
        model=model_of(plan.endpoint),
        template=template.name if template else "",
        prompt=prompt,
        prompt_version=template.version_of(prompt) if template else "",
        temperature=(0.0 if is_judge else 0.8) if plan.temperature is None else plan.temperature,
        max_tokens=plan.max_tokens,
        rollouts=plan.rollouts,
        threshold=plan.threshold,
        search=plan.search,
        chosen=_sent(plan.chosen) if plan.mode == Mode.BATCH else {},
        token_budget=plan.token_budget,
        cost_budget=Decimal(str(plan.cost_budget)),
        prompt_price=prices.prompt,
        completion_price=prices.completion,
        currency=project.policies.costs.currency,
        seed=new_seed() if plan.seed is None else plan.seed,
    )
    if is_judge:
        run.annotator = find_judge(run)
    return run


def check_plan(project: Project, plan: JudgingPlan) -> None:
    """Raises DomainError (`unknown_endpoint`, `invalid_judging`) naming the wrong field."""
    model_of(plan.endpoint)
    check_fields(plan, code="invalid_judging")
    _check_prompt(plan)
    if plan.cost_budget and prices_of(plan.endpoint) == Prices():
        raise _invalid("cost_budget", Message("judging_without_prices", endpoint=plan.endpoint))
    if plan.mode == Mode.QUEUE:
        _check_queue(project, plan)


def _check_prompt(plan: JudgingPlan) -> None:
    if not plan.prompt:
        return
    needed = [PROMPT, STEPS] if plan.method == Method.JUDGE else [PROMPT]
    for place in needed:
        if plan.prompt.count(place) != 1:
            raise _invalid("prompt", Message("judging_prompt_without_place", place=place))


def _check_queue(project: Project, plan: JudgingPlan) -> None:
    """Refuse a judge that cannot answer what the project asks of annotators."""
    scheme = project.label_scheme
    if plan.method != Method.JUDGE:
        raise _invalid("mode", Message("judging_queue_needs_judge"))
    if plan.template == "first_error" and not scheme.stop_at_first_error:
        raise _invalid("template", Message("judging_scheme_rates_every_step"))
    if (
        scheme.ask_progress
        or scheme.critique == "given"
        or (scheme.critique == "written" and plan.template != "critic")
    ):
        raise _invalid("template", Message("judging_scheme_asks_more"))


@transaction.atomic
def resume_judging(*, by: User, job: JudgingRun) -> JudgingRun:
    """Resume a run that failed or was cancelled, within the same budget; failed solutions of a batch are judged again.

    Raises as `resume_job`, DomainError (`unknown_endpoint`), Conflict (`nothing_left`, `budget_spent`).
    """
    ended_by_budget = is_ended_by_budget(job)
    run = resume_job(by=by, job=job, even_if_done=True)
    if ended_by_budget:
        raise Conflict(Message("judging_budget_is_spent"), code="budget_spent")
    model_of(run.endpoint)
    if run.mode == Mode.BATCH:
        _reopen(run)
    run.note = ""
    run.save(update_fields=["note", "failed_solutions"])
    return run


def is_ended_by_budget(run: JudgingRun) -> bool:
    """Whether the budget ended a batch before its last solution."""
    waiting = run.judged.filter(state=JudgedSolution.State.WAITING)
    return run.state == JudgingRun.State.DONE and run.mode == Mode.BATCH and waiting.exists()


def can_resume_judging(run: JudgingRun) -> bool:
    """Whether `resume_judging` has something to do: the rest of a batch, or the queue of a run that stopped early."""
    if run.live or is_ended_by_budget(run):
        return False
    return run.state != JudgingRun.State.DONE if run.mode == Mode.QUEUE else _unfinished(run).exists()


def _unfinished(run: JudgingRun) -> QuerySet[JudgedSolution]:
    return run.judged.exclude(state=JudgedSolution.State.DONE)


def _reopen(run: JudgingRun) -> None:
    """Let the failed solutions wait again; their earlier calls do not count as attempts."""
    unfinished = _unfinished(run)
    if not unfinished.exists():
        raise Conflict(Message("judging_complete"), code="nothing_left")
    calls = JudgeCall.objects.filter(judged=OuterRef("pk")).order_by().values("judged").annotate(n=Count("pk"))
    unfinished.filter(state=JudgedSolution.State.FAILED).update(
        state=JudgedSolution.State.WAITING, error="", first_attempt=Coalesce(Subquery(calls.values("n")), 0)
    )
    run.failed_solutions = 0


def _sent(chosen: SolutionFilter) -> dict[str, Any]:
    """The fields of the filter that are set."""
    sent: dict[str, Any] = msgspec.to_builtins(chosen)
    return {name: value for name, value in sent.items() if value is not False}


def _invalid(field_name: str, message: str) -> DomainError:
    return DomainError(message, {"field": field_name}, code="invalid_judging")
