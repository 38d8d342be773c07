"""Requests rounds, and resumes failed ones."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Max, QuerySet
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.lifecycle import locked, resume_job, send
from annotation.core.membership.access import require_role
from annotation.core.stages import create_stages
from annotation.labels.annotators.batches import in_use
from annotation.loop.rounds import limits, pipeline
from annotation.loop.selection.generations import new_seed
from annotation.models import HIDDEN_LANES, Annotation, Membership, Project, TrainingRun
from annotation.work.gold.designation import active_gold
from prm.messages import Message, joined
from prm.vocabulary import FINISHED

LEAST_SOLUTIONS = 20


@transaction.atomic
def request_run(
    *, by: User | None, project: Project, trigger: str = TrainingRun.Trigger.MANUAL, reason: str = ""
) -> TrainingRun:
    """Create a round and enqueue its first stage. `by` is None for an automatic round, which has a `reason`.

    Raises Forbidden, Conflict (`run_in_progress`), DomainError (`too_few_labels`, `no_errors_labelled`).
    """
    run = prepare_run(by=by, project=project, trigger=trigger, reason=reason)
    send(run)
    return run


@transaction.atomic
def prepare_run(
    *, by: User | None, project: Project, trigger: str, reason: str = "", seed: int | None = None
) -> TrainingRun:
    """Create a run with its stages, without enqueueing it. Raises as `request_run` does."""
    if by is not None:
        require_role(by, project, Membership.Role.MANAGER)
    check_labels(project)
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if live := project.training_runs.filter(state__in=TrainingRun.LIVE).first():
        raise Conflict(Message("another_run_in_progress", n=live.number), {"run": live.number}, code="run_in_progress")
    last = project.training_runs.aggregate(last=Max("number"))["last"] or 0
    run = TrainingRun.objects.create(
        project=project,
        number=last + 1,
        trigger=trigger,
        requested_by=by,
        reason=reason or _reason_of_request(by, project),
        seed=new_seed() if seed is None else seed,
    )
    create_stages(run, pipeline.STAGES)
    audit.record(
        by=by,
        action="run.request",
        target=run,
        after={"number": run.number, "trigger": trigger, "reason": run.reason},
    )
    return run


def _reason_of_request(by: User | None, project: Project) -> str:
    """Who requested a round, and the conditions that would have delayed an automatic one."""
    delays = [hold.sentence for hold in limits.holds(project, timezone.now())]
    return joined([Message("requested_by", name=by.username) if by else Message("requested"), *delays])


@transaction.atomic
def resume_run(*, by: User, job: TrainingRun) -> TrainingRun:
    """Resume a failed or cancelled run at the stage where it ended; training resumes from its checkpoint.

    Raises as `resume_job`, and as `check_resumable`.
    """
    require_role(by, job.project, Membership.Role.MANAGER)
    Project.objects.select_for_update(no_key=True).get(pk=job.project_id)
    check_resumable(locked(job))
    return resume_job(by=by, job=job)


def check_resumable(run: TrainingRun) -> None:
    """Raises Conflict (`run_in_progress`, `nothing_to_retry`, `not_latest`, `files_gone`) if a run cannot resume."""
    if run.live:
        raise Conflict(Message("run_in_progress", n=run.number), {"run": run.number})
    if run.state == TrainingRun.State.DONE:
        raise Conflict(Message("nothing_to_retry", n=run.number))
    if run.project.training_runs.filter(number__gt=run.number).exists():
        raise Conflict(Message("not_latest", n=run.number))
    if run.pruned_at is not None:
        raise Conflict(Message("run_files_gone", n=run.number), code="files_gone")


def training_labels(project: Project) -> QuerySet[Annotation]:
    """Annotations of finished solutions from sources that train, except those set aside and those on gold."""
    labels = Annotation.objects.filter(
        project=project,
        source__kind__in=project.policies.training_sources,
        finish_reason__in=FINISHED,
    )
    gold = active_gold(project).values("solution")
    return in_use(labels.exclude(lane__in=HIDDEN_LANES).exclude(solution__in=gold))


def check_labels(project: Project) -> None:
    """Raises DomainError (`too_few_labels`, `no_errors_labelled`) if the labels are too few to train on."""
    pool = training_labels(project).filter(solution__split="pool")
    labelled = pool.order_by().values("solution").distinct()[:LEAST_SOLUTIONS].count()
    if labelled < LEAST_SOLUTIONS:
        raise DomainError(
            Message("too_few_labels", n=labelled, least=LEAST_SOLUTIONS, more=LEAST_SOLUTIONS - labelled),
            {"labelled": labelled, "needed": LEAST_SOLUTIONS},
        )
    if not pool.filter(finish_reason="found_error").exists():
        raise DomainError(Message("no_errors_labelled"))
