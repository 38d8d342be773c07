"""The stages of a job: each task runs one stage and enqueues the next on that stage's queue.

A stage is idempotent: it may run again at any time.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from django.db import transaction
from django.utils import timezone

from annotation.core.lifecycle import Turn, save_progress
from annotation.models import JobStage, StagedJob
from prm.messages import Message

State = JobStage.State


@dataclass(frozen=True)
class Outcome:
    """The result of a stage: a figure that sums it up, and whether it was `skipped`, because nothing was to do.

    An `unfinished` stage releases its worker and is enqueued again.
    """

    figure: Message
    skipped: bool = False
    unfinished: bool = False


@dataclass(frozen=True)
class Stage:
    """The function of a stage and its queue. If an `optional` stage fails, the job continues."""

    queue: str
    perform: Callable[[Any], Outcome]
    optional: bool = False


def create_stages(job: StagedJob, stages: Mapping[str, Stage]) -> None:
    """Create the stages of a new job, all waiting."""
    for order, (name, stage) in enumerate(stages.items()):
        job.stages.create(name=name, order=order, queue=stage.queue, optional=stage.optional)


class Work(Protocol):
    """The argument of a stage's function."""

    def count_seconds(self) -> None: ...


def do_stage(job: StagedJob, stages: Mapping[str, Stage], work: Callable[[Any, Any], Work]) -> Turn | None:
    """Run the job's next stage with `work(job, stage)`; the `perform` of `run_job`."""
    stage = job.stage
    if stage is None:  # the last worker died after the last stage
        return None
    stage.state, stage.started_at = State.RUNNING, stage.started_at or timezone.now()
    stage.attempts += 1
    stage.save(update_fields=["state", "started_at", "attempts"])
    stage_work = work(job, stage)
    outcome = stages[stage.name].perform(stage_work)
    stage_work.count_seconds()
    if not outcome.unfinished:
        return end_stage(job, stage, outcome)
    stage.figure, stage.attempts = outcome.figure, stage.attempts - 1
    stage.save(update_fields=["figure", "attempts"])
    save_progress(job)
    return Turn.AGAIN


@transaction.atomic
def end_stage(job: StagedJob, stage: Any, outcome: Outcome) -> Turn | None:
    """Store the outcome of a stage; returns AGAIN if stages remain."""
    stage.state = State.SKIPPED if outcome.skipped else State.DONE
    stage.figure, stage.progress, stage.finished_at = outcome.figure, 1.0, timezone.now()
    stage.save(update_fields=["state", "figure", "progress", "finished_at"])
    save_progress(job)
    return Turn.AGAIN if job.stage else None
