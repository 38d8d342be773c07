"""The stages of a job: each task does one of them and then asks for the next, on the queue of that one.

A stage may be run again at any time with the same result.
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
    """How a stage ended: the one figure that sums it up, and whether there was nothing to do.

    An `unfinished` stage releases its worker and is enqueued again.
    """

    figure: Message
    skipped: bool = False
    unfinished: bool = False


@dataclass(frozen=True)
class Stage:
    """What a stage does, and the queue of its workers. If an `optional` stage fails, the job continues."""

    queue: str
    perform: Callable[[Any], Outcome]
    optional: bool = False


def create_stages(job: StagedJob, stages: Mapping[str, Stage]) -> None:
    """Write a new job's stages, all waiting."""
    for order, (name, stage) in enumerate(stages.items()):
        job.stages.create(name=name, order=order, queue=stage.queue, optional=stage.optional)


class Work(Protocol):
    """What a stage has in hand."""

    def count_seconds(self) -> None: ...


def do_stage(job: StagedJob, stages: Mapping[str, Stage], work: Callable[[Any, Any], Work]) -> Turn | None:
    """Do the job's next stage, with the `work` object made for it; the `perform` of `run_job`."""
    stage = job.stage
    if stage is None:  # the last worker died after the last stage
        return None
    stage.state, stage.started_at = State.RUNNING, stage.started_at or timezone.now()
    stage.attempts += 1
    stage.save(update_fields=["state", "started_at", "attempts"])
    in_hand = work(job, stage)
    outcome = stages[stage.name].perform(in_hand)
    in_hand.count_seconds()
    if not outcome.unfinished:
        return end_stage(job, stage, outcome)
    stage.figure, stage.attempts = outcome.figure, stage.attempts - 1
    stage.save(update_fields=["figure", "attempts"])
    save_progress(job)
    return Turn.AGAIN


@transaction.atomic
def end_stage(job: StagedJob, stage: Any, outcome: Outcome) -> Turn | None:
    """Record how a stage ended; AGAIN if stages remain."""
    stage.state = State.SKIPPED if outcome.skipped else State.DONE
    stage.figure, stage.progress, stage.finished_at = outcome.figure, 1.0, timezone.now()
    stage.save(update_fields=["state", "figure", "progress", "finished_at"])
    save_progress(job)
    return Turn.AGAIN if job.stage else None
