"""Sampling runs as jobs: started, watched, cancelled, taken up again; and what follows them."""

import math
from dataclasses import dataclass
from datetime import timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import audit
from annotation.errors import Conflict, DomainError
from annotation.formats.provenance import LONGEST_PROMPT
from annotation.intake.decomposition import RULES
from annotation.jobs import enqueue
from annotation.membership.access import require_role
from annotation.models import Membership, Project, SampledProblem, SamplingRun
from annotation.rounds.gateway.policies import PROMPT, model_of
from annotation.rounds.generations import new_seed
from annotation.sampling.choosing import chosen_problems

TASK = "sampling.run"
STALLED_AFTER = timedelta(minutes=10)  # above the longest that one request may take, its retries included
MOST_SAMPLES, MOST_TOKENS, HOTTEST = 64, 131_072, 2.0
State = SamplingRun.State


@dataclass(frozen=True)
class Wish:
    """What to sample. `most_problems` and `token_budget` are None for no bound."""

    endpoint: str
    samples: int = 4
    temperature: float = 0.8
    max_tokens: int = 1024
    prompt: str = PROMPT
    decomposition: str = "blank_lines"
    choice: str = SamplingRun.Choice.ALL
    domain: str = ""
    most_problems: int | None = None
    token_budget: int | None = None
    opens_generation: bool = False
    seed: int | None = None


def start_sampling(*, by: User, project: Project, wish: Wish) -> SamplingRun:
    """Choose the problems and let a worker sample. Raises as `create_sampling`."""
    run = create_sampling(by=by, project=project, wish=wish)
    enqueue(TASK, run.pk)
    return run


@transaction.atomic
def create_sampling(*, by: User | None, project: Project, wish: Wish) -> SamplingRun:
    """A run with its problems frozen; nobody works on it yet. `by` is None for the operator of the machine.

    Raises Forbidden, DomainError (`unknown_endpoint`, `invalid_sampling`, `no_problems`).
    """
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    check_wish(wish)
    problems = chosen_problems(project, choice=wish.choice, domain=wish.domain, most=wish.most_problems)
    if not problems:
        raise DomainError(
            "no_problems", _("No problem of the project is of this choice. Import problems, or choose more.")
        )
    run = SamplingRun.objects.create(
        project=project,
        requested_by=by,
        endpoint=wish.endpoint,
        model=model_of(wish.endpoint),
        temperature=wish.temperature,
        max_tokens=wish.max_tokens,
        samples=wish.samples,
        prompt=wish.prompt,
        decomposition=wish.decomposition,
        choice=wish.choice,
        domain=wish.domain,
        token_budget=wish.token_budget or 0,
        seed=new_seed() if wish.seed is None else wish.seed,
        opens_generation=wish.opens_generation,
        problems=len(problems),
    )
    SampledProblem.objects.bulk_create(
        (SampledProblem(run=run, problem_id=pk, position=place) for place, pk in enumerate(problems)), batch_size=5000
    )
    audit.record(
        by=by,
        action="sampling.start",
        target=run,
        project=project,
        after={"endpoint": run.endpoint, "model": run.model, "problems": run.problems, "samples": run.samples},
    )
    return run


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
            raise _invalid(field, f"`{field}` is {value}; it goes from {least} to {most}.")
    if PROMPT not in wish.prompt:
        raise _invalid("prompt", f"The prompt has no {PROMPT}, so the policy would not see the problem.")
    if len(wish.prompt) > LONGEST_PROMPT:
        raise _invalid("prompt", f"The prompt is longer than {LONGEST_PROMPT} characters.")
    if wish.decomposition not in RULES:
        raise _invalid("decomposition", f"Texts are split by {', '.join(RULES)}; not by '{wish.decomposition}'.")
    if wish.choice not in SamplingRun.Choice.values:
        raise _invalid("choice", f"Problems are chosen as {', '.join(SamplingRun.Choice.values)}.")


@transaction.atomic
def cancel_sampling(*, by: User, run: SamplingRun) -> SamplingRun:
    """Stop behind the problems that are being asked; what is in stays. Raises Forbidden, Conflict (`sampling_over`)."""
    require_role(by, run.project, Membership.Role.MANAGER)
    run = _locked(run)
    if run.state not in SamplingRun.LIVE:
        raise Conflict("sampling_over", _("This sampling is %(state)s already.") % {"state": run.state})
    run.cancel_requested = True
    run.save(update_fields=["cancel_requested"])
    audit.record(by=by, action="sampling.cancel", target=run, project=run.project)
    if run.state != State.RUNNING:
        end_sampling(run, State.CANCELLED)
    return run


@transaction.atomic
def resume_sampling(*, by: User, run: SamplingRun) -> SamplingRun:
    """Go on with what a failed or cancelled run, or one out of budget, left; problems that failed are asked again.

    Raises Forbidden, Conflict (`sampling_live`, `nothing_left`).
    """
    require_role(by, run.project, Membership.Role.MANAGER)
    run = _locked(run)
    if run.state in SamplingRun.LIVE:
        raise Conflict("sampling_live", _("This sampling is under way."))
    model_of(run.endpoint)
    left = run.sampled_problems.exclude(state=SampledProblem.State.DONE)
    if not left.exists():
        raise Conflict("nothing_left", _("Every problem of this sampling has its samples."))
    left.filter(state=SampledProblem.State.FAILED).update(state=SampledProblem.State.WAITING, error="")
    run.state, run.cancel_requested, run.error, run.note = State.QUEUED, False, "", ""
    run.finished_at, run.failed_problems, run.token_budget = None, 0, 0
    run.save()
    audit.record(by=by, action="sampling.resume", target=run, project=run.project)
    enqueue(TASK, run.pk)
    return run


def sweep_samplings() -> int:
    """Enqueue again the runs that nobody has worked on for a while; returns how many."""
    stalled = SamplingRun.objects.alias(seen_at=Coalesce("heartbeat_at", "created_at")).filter(
        state__in=SamplingRun.SAMPLED_FROM, seen_at__lt=timezone.now() - STALLED_AFTER
    )
    runs = list(stalled.values_list("pk", flat=True))
    for run in runs:
        SamplingRun.objects.filter(pk=run).update(heartbeat_at=timezone.now())
        enqueue(TASK, run)
    return len(runs)


@transaction.atomic
def end_sampling(run: SamplingRun, state: str, *, note: str = "", error: str = "") -> None:
    """Note how a run ended."""
    run.state, run.note, run.error, run.finished_at = state, note, error, timezone.now()
    run.save(update_fields=["state", "note", "error", "finished_at"])
    counts = ("sampled", "accepted", "duplicates", "refused", "right", "wrong", "ungraded", "failed_problems")
    audit.record(
        by=run.requested_by,
        action=f"sampling.{state}",
        target=run,
        project=run.project,
        after={name: getattr(run, name) for name in counts} | ({"error": error} if error else {}),
    )


@dataclass(frozen=True)
class Progress:
    """Share of the problems asked, 0 to 1; samples a second and seconds left, None while not known."""

    share: float
    samples_per_second: float | None
    seconds_left: float | None


def progress_of(run: SamplingRun) -> Progress:
    asked = run.done_problems + run.failed_problems
    share = asked / run.problems if run.problems else 0.0
    if run.started_at is None or not asked:
        return Progress(share, None, None)
    seconds = ((run.finished_at or run.heartbeat_at or timezone.now()) - run.started_at).total_seconds()
    left = seconds / share - seconds if run.state in SamplingRun.SAMPLED_FROM else None
    return Progress(share, run.sampled / seconds if seconds else None, left)


def _locked(run: SamplingRun) -> SamplingRun:
    return SamplingRun.objects.select_for_update(of=("self",)).select_related("project").get(pk=run.pk)


def _invalid(field: str, message: str) -> DomainError:
    return DomainError("invalid_sampling", message, {"field": field})
