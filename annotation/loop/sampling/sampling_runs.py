"""Requests and resumes sampling runs."""

from typing import Annotated

import msgspec
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet
from msgspec import Meta

from annotation.core import audit
from annotation.core.bounds import NonBlank, Position, about, check_fields, one_of
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import resume_job, send
from annotation.core.membership.access import require_role
from annotation.loop import registry
from annotation.loop.gateway.policies import HIGHEST_TEMPERATURE, MOST_TOKENS, PROMPT, model_of, proposed_prompt
from annotation.loop.selection.generations import new_seed
from annotation.models import Annotation, Membership, Problem, Project, SampledProblem, SamplingRun
from prm.formats.record import LONGEST_PROMPT
from prm.messages import Message
from prm.splitting import RULES, Thinking

Choice = SamplingRun.Choice
MOST_SAMPLES = 64


class SamplingPlan(msgspec.Struct, frozen=True):
    """What to sample. `endpoint` is one of the names that the operator configured."""

    endpoint: Annotated[NonBlank, Meta(max_length=100)]
    samples: Annotated[int, Meta(ge=1, le=MOST_SAMPLES), about("Number of samples per problem.")] = 4
    temperature: Annotated[float, Meta(ge=0, le=HIGHEST_TEMPERATURE)] = 0.8
    max_tokens: Annotated[int, Meta(ge=1, le=MOST_TOKENS)] = 1024
    prompt: Annotated[
        str, Meta(max_length=LONGEST_PROMPT), about("A prompt instead of the endpoint's, which contains {problem}.")
    ] = ""
    decomposition: Annotated[str, one_of(RULES)] = "blank_lines"
    thinking: Thinking = "separate"
    choice: Annotated[SamplingRun.Choice, about("Which problems are sampled.")] = Choice.ALL
    domain: Annotated[str, Meta(max_length=100)] = ""
    most_problems: Annotated[
        Annotated[int, Meta(ge=1, le=10**9)] | None, about("The most problems to sample; null for all.")
    ] = None
    token_budget: Annotated[int, Meta(ge=1, le=2**53)] | None = None
    opens_generation: bool = False
    seed: Position | None = None


def start_sampling(*, by: User, project: Project, plan: SamplingPlan) -> SamplingRun:
    """Create a run with its problems and enqueue it. Raises as `create_sampling`."""
    run = create_sampling(by=by, project=project, plan=plan)
    send(run)
    return run


@transaction.atomic
def create_sampling(*, by: User | None, project: Project, plan: SamplingPlan) -> SamplingRun:
    """Create a run with its problems, without enqueueing it. `by` is None for the operator of the machine.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_sampling`, `no_problems`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    check_plan(plan)
    problems = chosen_problems(project, choice=plan.choice, domain=plan.domain, most=plan.most_problems)
    if not problems:
        raise DomainError(Message("no_problem_to_sample"), code="no_problems")
    run = unsaved_run(plan, project)
    _check_budget(run, Problem.objects.get(pk=problems[0]))
    run.requested_by, run.problems = by, len(problems)
    run.save()
    SampledProblem.objects.bulk_create(
        (SampledProblem(run=run, problem_id=pk, position=position) for position, pk in enumerate(problems)),
        batch_size=5000,
    )
    audit.record(
        by=by,
        action="sampling.start",
        target=run,
        after={"endpoint": run.endpoint, "model": run.model, "problems": run.problems, "samples": run.samples},
    )
    return run


def unsaved_run(plan: SamplingPlan, project: Project) -> SamplingRun:
    """A run with the settings of the plan."""
    return SamplingRun(
        project=project,
        endpoint=plan.endpoint,
        model=model_of(plan.endpoint),
        temperature=plan.temperature,
        max_tokens=plan.max_tokens,
        samples=plan.samples,
        prompt=plan.prompt or proposed_prompt(plan.endpoint),
        decomposition=plan.decomposition,
        thinking=plan.thinking,
        choice=plan.choice,
        domain=plan.domain,
        token_budget=plan.token_budget or 0,
        seed=new_seed() if plan.seed is None else plan.seed,
        opens_generation=plan.opens_generation,
    )


def check_plan(plan: SamplingPlan) -> None:
    """Raises DomainError (`unknown_endpoint`, `invalid_sampling`) naming the wrong field."""
    model_of(plan.endpoint)
    check_fields(plan, code="invalid_sampling")
    if plan.prompt and PROMPT not in plan.prompt:
        raise _invalid("prompt", Message("sampling_prompt_without_problem", prompt=PROMPT))


def chosen_problems(project: Project, *, choice: str, domain: str, most: int | None) -> list[int]:
    """The ids of at most `most` problems in the order they are sampled; of one domain if `domain` is set."""
    problems = Problem.objects.filter(project=project)
    if domain:
        problems = problems.filter(domain=domain)
    return list(_ordered(project, problems, choice).values_list("pk", flat=True)[:most])


def _ordered(project: Project, problems: QuerySet[Problem], choice: str) -> QuerySet[Problem]:
    match choice:
        case Choice.UNLABELLED:
            labelled = Annotation.objects.filter(solution__problem=OuterRef("pk"))
            return problems.filter(~Exists(labelled)).order_by("pk")
        case Choice.FEWEST:
            return problems.annotate(solved=Count("solutions")).order_by("solved", "pk")
        case Choice.UNCERTAIN:
            champion = registry.champion_of(project)
            by_champion = Q(solutions__pool_scores__model_version=champion)
            gain = Avg("solutions__pool_scores__gain", filter=by_champion)
            return problems.annotate(gain=gain).order_by(F("gain").desc(nulls_last=True), "pk")
        case _:
            return problems.order_by("pk")


def most_tokens(problem: str, *, prompt: str, samples: int, max_tokens: int) -> int:
    """The upper bound of tokens for one problem: one per character of the prompt, and the longest samples."""
    return len(prompt.replace(PROMPT, problem)) + samples * max_tokens


def _check_budget(run: SamplingRun, first: Problem) -> None:
    """Raises DomainError (`invalid_sampling`) if the budget is too small for the first problem."""
    most = most_tokens(first.text, prompt=run.prompt, samples=run.samples, max_tokens=run.max_tokens)
    if 0 < run.token_budget < most:
        values = {"most": most, "samples": run.samples, "max_tokens": run.max_tokens, "budget": run.token_budget}
        raise _invalid("token_budget", Message("budget_below_one_problem", **values))


@transaction.atomic
def resume_sampling(*, by: User, job: SamplingRun) -> SamplingRun:
    """Resume a run that failed, was cancelled or ran out of budget; failed problems are sampled again.

    Raises as `resume_job`, DomainError (`unknown_endpoint`), Conflict (`nothing_left`).
    """
    run = resume_job(by=by, job=job, even_if_done=True)
    model_of(run.endpoint)
    unfinished = _unfinished(run)
    if not unfinished.exists():
        raise Conflict(Message("sampling_complete"), code="nothing_left")
    unfinished.filter(state=SampledProblem.State.FAILED).update(state=SampledProblem.State.WAITING, error="")
    run.note, run.failed_problems, run.token_budget = "", 0, 0
    run.save(update_fields=["note", "failed_problems", "token_budget"])
    return run


def can_resume_sampling(run: SamplingRun) -> bool:
    """Whether the run has ended with problems left."""
    return not run.live and _unfinished(run).exists()


def _unfinished(run: SamplingRun) -> QuerySet[SampledProblem]:
    return run.sampled_problems.exclude(state=SampledProblem.State.DONE)


def _invalid(field: str, message: str) -> DomainError:
    return DomainError(message, {"field": field}, code="invalid_sampling")
