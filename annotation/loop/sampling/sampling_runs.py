"""Sampling runs asked for, watched and gone on with."""

import math
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import resume_job, send
from annotation.core.membership.access import require_role
from annotation.loop import registry
from annotation.loop.gateway.policies import PROMPT, model_of
from annotation.loop.selection.generations import new_seed
from annotation.models import Annotation, Membership, Problem, Project, SampledProblem, SamplingRun
from prm.formats.record import LONGEST_PROMPT
from prm.messages import Message
from prm.splitting import RULES, THINKING

Choice = SamplingRun.Choice
MOST_SAMPLES, MOST_TOKENS, HOTTEST = 64, 131_072, 2.0


@dataclass(frozen=True)
class Wish:
    """What to sample. `most_problems` and `token_budget` are None for no bound."""

    endpoint: str
    samples: int = 4
    temperature: float = 0.8
    max_tokens: int = 1024
    prompt: str = PROMPT
    decomposition: str = "blank_lines"
    thinking: str = "separate"
    choice: str = Choice.ALL
    domain: str = ""
    most_problems: int | None = None
    token_budget: int | None = None
    opens_generation: bool = False
    seed: int | None = None


def start_sampling(*, by: User, project: Project, wish: Wish) -> SamplingRun:
    """Choose the problems and let a worker sample. Raises as `create_sampling`."""
    run = create_sampling(by=by, project=project, wish=wish)
    send(run)
    return run


@transaction.atomic
def create_sampling(*, by: User | None, project: Project, wish: Wish) -> SamplingRun:
    """Create a run with its problems, not enqueued yet. `by` is None for the operator of the machine.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_sampling`, `no_problems`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    check_wish(wish)
    problems = chosen_problems(project, choice=wish.choice, domain=wish.domain, most=wish.most_problems)
    if not problems:
        raise DomainError(Message("no_problem_to_sample"), code="no_problems")
    _check_budget(wish, Problem.objects.get(pk=problems[0]))
    run = unsaved_run(wish, project)
    run.requested_by, run.problems = by, len(problems)
    run.save()
    SampledProblem.objects.bulk_create(
        (SampledProblem(run=run, problem_id=pk, position=place) for place, pk in enumerate(problems)), batch_size=5000
    )
    audit.record(
        by=by,
        action="sampling.start",
        target=run,
        after={"endpoint": run.endpoint, "model": run.model, "problems": run.problems, "samples": run.samples},
    )
    return run


def unsaved_run(wish: Wish, project: Project) -> SamplingRun:
    """A run as the wish describes it."""
    return SamplingRun(
        project=project,
        endpoint=wish.endpoint,
        model=model_of(wish.endpoint),
        temperature=wish.temperature,
        max_tokens=wish.max_tokens,
        samples=wish.samples,
        prompt=wish.prompt,
        decomposition=wish.decomposition,
        thinking=wish.thinking,
        choice=wish.choice,
        domain=wish.domain,
        token_budget=wish.token_budget or 0,
        seed=new_seed() if wish.seed is None else wish.seed,
        opens_generation=wish.opens_generation,
    )


def check_wish(wish: Wish) -> None:
    """Raises DomainError (`unknown_endpoint`, `invalid_sampling`) naming the field that cannot be."""
    model_of(wish.endpoint)
    numbers = (
        ("samples", wish.samples, 1, MOST_SAMPLES),
        ("temperature", wish.temperature, 0.0, HOTTEST),
        ("max_tokens", wish.max_tokens, 1, MOST_TOKENS),
        ("most_problems", wish.most_problems, 1, 10**9),
        ("token_budget", wish.token_budget, 1, 10**15),
    )
    for field, value, least, most in numbers:
        if value is not None and not (math.isfinite(value) and least <= value <= most):
            raise _invalid(
                field, Message("sampling_field_out_of_range", field=field, value=value, least=least, most=most)
            )
    if PROMPT not in wish.prompt:
        raise _invalid("prompt", Message("sampling_prompt_without_problem", prompt=PROMPT))
    if len(wish.prompt) > LONGEST_PROMPT:
        raise _invalid("prompt", Message("prompt_too_long", n=LONGEST_PROMPT))
    ways = (("decomposition", wish.decomposition, (*RULES,)), ("thinking", wish.thinking, THINKING))
    for field, way, known in ways:
        if way not in known:
            choices = ", ".join(known)
            raise _invalid(field, Message("unknown_decomposition", value=way, choices=choices))
    if wish.choice not in Choice.values:
        raise _invalid("choice", Message("unknown_problem_choice", known=", ".join(Choice.values)))


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
    """The upper bound of tokens for one problem: one per character of the prompt, and every sample at its longest."""
    return len(prompt.replace(PROMPT, problem)) + samples * max_tokens


def _check_budget(wish: Wish, first: Problem) -> None:
    """Raises DomainError (`invalid_sampling`) where the budget does not hold the first problem."""
    most = most_tokens(first.text, prompt=wish.prompt, samples=wish.samples, max_tokens=wish.max_tokens)
    if wish.token_budget is not None and wish.token_budget < most:
        raise _invalid(
            "token_budget",
            Message(
                "budget_below_one_problem",
                most=most,
                samples=wish.samples,
                max_tokens=wish.max_tokens,
                budget=wish.token_budget,
            ),
        )


@transaction.atomic
def resume_sampling(*, by: User, job: SamplingRun) -> SamplingRun:
    """Resume a run that failed, was cancelled or ran out of budget; failed problems are sampled again.

    Raises as `resume_job`, DomainError (`unknown_endpoint`), Conflict (`nothing_left`).
    """
    run = resume_job(by=by, job=job, even_if_done=True)
    model_of(run.endpoint)
    unfinished = run.sampled_problems.exclude(state=SampledProblem.State.DONE)
    if not unfinished.exists():
        raise Conflict(Message("sampling_complete"), code="nothing_left")
    unfinished.filter(state=SampledProblem.State.FAILED).update(state=SampledProblem.State.WAITING, error="")
    run.note, run.failed_problems, run.token_budget = "", 0, 0
    run.save(update_fields=["note", "failed_problems", "token_budget"])
    return run


def _invalid(field: str, message: str) -> DomainError:
    return DomainError(message, {"field": field}, code="invalid_sampling")
