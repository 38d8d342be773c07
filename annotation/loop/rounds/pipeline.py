"""A round, stage by stage: each Celery task does one stage under the project's lock, then asks for the next.

A stage may be run again at any time with the same result. What a dead worker left behind is found by
`sweep`: its heartbeat is old and its lock is free.
"""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from django.db import InterfaceError, OperationalError, transaction
from django.db.models import Q
from django.utils import timezone

from annotation.core import audit, jobs
from annotation.core.errors import DomainError
from annotation.core.lifecycle import Cancelled
from annotation.loop.processes import tickets
from annotation.loop.processes.lock import project_lock
from annotation.loop.rounds import failures
from annotation.loop.rounds.stages import evaluate, gate, promote, score, select, shadow, snapshot, train
from annotation.loop.rounds.work import Outcome, StageWork
from annotation.models import RunPoint, RunStage, TrainingRun
from prm.messages import Message

log = logging.getLogger(__name__)

STALL_SECONDS = 30
MAX_ATTEMPTS = 3
ENDED = [RunStage.State.DONE, RunStage.State.SKIPPED]


@dataclass(frozen=True)
class StageKind:
    """`optional`: where it fails, the round goes on without it."""

    queue: str
    perform: Callable[[StageWork], Outcome]
    optional: bool = False


STAGES: dict[str, StageKind] = {
    RunStage.Name.SNAPSHOT: StageKind("default", snapshot.perform),
    RunStage.Name.TRAIN: StageKind("gpu", train.perform),
    RunStage.Name.EVALUATE: StageKind("score", evaluate.perform),
    RunStage.Name.GATE: StageKind("default", gate.perform),
    RunStage.Name.PROMOTE: StageKind("default", promote.perform),
    RunStage.Name.SCORE: StageKind("score", score.perform),
    RunStage.Name.SELECT: StageKind("default", select.perform),
    RunStage.Name.SHADOW: StageKind("gpu", shadow.perform, optional=True),
}


def create_stages(run: TrainingRun) -> None:
    """Write a new run's stages, all waiting."""
    RunStage.objects.bulk_create(RunStage(run=run, name=name, order=order) for order, name in enumerate(STAGES))


def enqueue_next(run: TrainingRun) -> None:
    """Ask the right queue for the run's next stage; a second request for the same stage does nothing."""
    stage = next_stage(run)
    if stage is not None:
        tickets.mark(stage, STAGES[stage.name].queue)
        jobs.enqueue("rounds.advance", run.pk, stage.name, queue=STAGES[stage.name].queue)


def advance(run_id: int, stage_name: str) -> None:
    """Do stage `stage_name` of the run, if that is the next one and nobody else is at it; ask for the one after."""
    tickets.take(run_id, stage_name)
    run = TrainingRun.objects.select_related("project").get(pk=run_id)
    # The next task would find the lock taken, so it is asked for only when the lock is free again.
    if perform_next(run, expected=stage_name):
        enqueue_next(run)


def run_through(run: TrainingRun) -> TrainingRun:
    """Do all the remaining stages here and now, without a worker."""
    while perform_next(run):
        pass
    run.refresh_from_db()
    return run


def sweep() -> int:
    """Ask again for the stages that nobody works on and that wait in no queue; returns for how many runs."""
    old = timezone.now() - timedelta(seconds=STALL_SECONDS)
    stalled = TrainingRun.objects.filter(state__in=TrainingRun.LIVE).filter(
        Q(heartbeat_at__lt=old) | Q(heartbeat_at__isnull=True, created_at__lt=old)
    )
    found = 0
    for run in stalled.select_related("project"):
        with project_lock(run.project_id) as lock:
            if lock is None:
                continue
            run.refresh_from_db()
            stage = next_stage(run)
            goes_on = run.state in TrainingRun.LIVE and _may_go_on(run, stage)
        if goes_on and not (stage and tickets.waits(stage)):
            TrainingRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now())
            enqueue_next(run)
            found += 1
    return found


def cancel_if_idle(run: TrainingRun) -> None:
    """End a cancelled run at once where no worker is at it; one that is sees the request by itself."""
    with project_lock(run.project_id) as lock:
        if lock is not None:
            run.refresh_from_db()
            if run.state in TrainingRun.LIVE:
                _cancel(run)


def reopen(run: TrainingRun) -> None:
    """Let an ended run go on from the stage it failed or was cancelled at; what is done stays done."""
    run.stages.filter(state__in=[RunStage.State.FAILED, RunStage.State.CANCELLED]).update(
        state=RunStage.State.WAITING, figure="", progress=0, unanswered=0, finished_at=None
    )
    run.state, run.cancel_requested, run.retries = TrainingRun.State.QUEUED, False, run.retries + 1
    run.failure, run.error, run.finished_at, run.heartbeat_at = "", "", None, timezone.now()
    run.save(update_fields=["state", "cancel_requested", "retries", "failure", "error", "finished_at", "heartbeat_at"])


def next_stage(run: TrainingRun) -> RunStage | None:
    return run.stages.exclude(state__in=ENDED).order_by("order").first()


def perform_next(run: TrainingRun, *, expected: str | None = None) -> bool:
    """Do the run's next stage under the project's lock; returns whether stages remain.

    Does nothing where the run is over, another worker holds the lock, or the next stage is not `expected`.
    """
    with project_lock(run.project_id) as lock:
        if lock is None:
            return False
        run.refresh_from_db()
        stage = next_stage(run)
        if run.state not in TrainingRun.LIVE or stage is None or (expected and stage.name != expected):
            return False
        if not _may_go_on(run, stage):
            return False
        _start(run, stage)
        work = StageWork(run, stage, lock)
        try:
            outcome = STAGES[stage.name].perform(work)
            work.count_seconds()
        except Cancelled:
            _cancel(run)
        except (OperationalError, InterfaceError):
            # The database went away: nothing can be written now; the sweep asks for the stage again.
            log.exception("Run %s lost the database during %s", run.pk, stage.name)
            raise
        except Exception as error:
            log.exception("Run %s failed during %s", run.pk, stage.name)
            return _give_up(run, stage, error)
        else:
            return _pause(run, stage, outcome) if outcome.unfinished else _finish(run, stage, outcome)
    return False


def _may_go_on(run: TrainingRun, stage: RunStage | None) -> bool:
    if run.cancel_requested:
        _cancel(run)
    elif stage is not None and stage.unanswered >= MAX_ATTEMPTS:
        _give_up(run, stage, DomainError("worker_died", Message("stage_worker_died", n=stage.unanswered)))
    else:
        return True
    return False


def _start(run: TrainingRun, stage: RunStage) -> None:
    now = timezone.now()
    run.state, run.heartbeat_at, run.started_at = TrainingRun.State.RUNNING, now, run.started_at or now
    run.save(update_fields=["state", "heartbeat_at", "started_at"])
    stage.state, stage.started_at = RunStage.State.RUNNING, stage.started_at or now
    stage.attempts, stage.unanswered = stage.attempts + 1, stage.unanswered + 1
    stage.save(update_fields=["state", "started_at", "attempts", "unanswered"])


def _pause(run: TrainingRun, stage: RunStage, outcome: Outcome) -> bool:
    """Part of the stage is done: it is asked for again, and that is no further attempt."""
    stage.figure, stage.attempts, stage.unanswered = outcome.figure, stage.attempts - 1, 0
    stage.save(update_fields=["figure", "attempts", "unanswered"])
    TrainingRun.objects.filter(pk=run.pk).update(heartbeat_at=timezone.now())
    return True


@transaction.atomic
def _finish(run: TrainingRun, stage: RunStage, outcome: Outcome) -> bool:
    now = timezone.now()
    stage.state = RunStage.State.SKIPPED if outcome.skipped else RunStage.State.DONE
    stage.figure, stage.progress, stage.finished_at, stage.unanswered = outcome.figure, 1.0, now, 0
    stage.save(update_fields=["state", "figure", "progress", "finished_at", "unanswered"])
    run.heartbeat_at = now
    remain = next_stage(run) is not None
    if not remain:
        run.state, run.finished_at = TrainingRun.State.SUCCEEDED, now
        _tell(run, "run.succeed")
    run.save(update_fields=["heartbeat_at", "state", "finished_at"])
    return remain


def _give_up(run: TrainingRun, stage: RunStage, error: Exception) -> bool:
    """End the run, or only the stage where the round can do without it; returns whether stages remain."""
    if not STAGES[stage.name].optional:
        _fail(run, stage, error)
        return False
    reason = failures.what_happened(error)
    point = Message("optional_stage_failed", reason=reason)
    RunPoint.objects.create(run=run, stage=stage.name, message=point)
    return _finish(run, stage, Outcome(Message("optional_stage_figure_failed", reason=reason), skipped=True))


@transaction.atomic
def _fail(run: TrainingRun, stage: RunStage, error: Exception) -> None:
    now = timezone.now()
    stage.state, stage.finished_at, stage.figure = RunStage.State.FAILED, now, Message("stage_figure_failed")
    stage.save(update_fields=["state", "finished_at", "figure"])
    run.state, run.finished_at = TrainingRun.State.FAILED, now
    run.failure, run.error = failures.explain(stage.name, error)
    run.save(update_fields=["state", "finished_at", "failure", "error"])
    _tell(run, "run.fail")


@transaction.atomic
def _cancel(run: TrainingRun) -> None:
    """End the run where it stands; it has succeeded if nothing is left but what the round can do without."""
    now = timezone.now()
    left = run.stages.exclude(state__in=ENDED)
    stands = all(STAGES[name].optional for name in left.values_list("name", flat=True))
    left.update(state=RunStage.State.CANCELLED, finished_at=now)
    run.state = TrainingRun.State.SUCCEEDED if stands else TrainingRun.State.CANCELLED
    run.finished_at, run.cancel_requested = now, True
    run.save(update_fields=["state", "finished_at", "cancel_requested"])
    _tell(run, "run.succeed" if stands else "run.cancelled")


def _tell(run: TrainingRun, action: str) -> None:
    audit.record(
        by=None, action=action, target=run, project=run.project, after={"state": run.state, "error": run.error}
    )
