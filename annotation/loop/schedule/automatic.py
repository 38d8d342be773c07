"""Automatic rounds, and the forecast of the next one."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.labels.quality.batch_watch import watch
from annotation.loop.rounds import limits
from annotation.loop.rounds.limits import Hold
from annotation.loop.rounds.runs import request_run
from annotation.loop.rounds.timetable import next_time, quiet_until
from annotation.loop.schedule import drift, triggers
from annotation.loop.schedule.triggers import Cause
from annotation.models import Project, TrainingRun

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Outlook:
    """The forecast of the next automatic round.

    `due` is the cause that waits already. `not_before` is the earliest known time; None if it depends on labels or
    scores, or on what `holds` name.
    """

    due: Cause | None
    holds: list[Hold]
    not_before: datetime | None
    new_labels: int


def start_due_runs(now: datetime | None = None) -> int:
    """Begin the rounds that the projects' policies call for; returns how many."""
    now = now or timezone.now()
    return sum(_start_if_due(project, now) for project in Project.objects.filter(state=Project.State.ACTIVE))


def outlook(project: Project, now: datetime | None = None) -> Outlook | None:
    """The forecast of the project's next automatic round; None if no cause is configured."""
    now = now or timezone.now()
    rounds = project.policies.rounds
    if not rounds.automatic:
        return None
    due, holding = triggers.due_cause(project, now), limits.holds(project, now)
    last = project.training_runs.order_by("-number").first()
    ends = [hold.until for hold in holding]
    known = [end for end in ends if end is not None]
    if None in ends:
        not_before = None
    elif due is not None:
        not_before = max(known, default=now)
    else:
        not_before = _free_time(project, max(known, default=now)) or max(known, default=None)
    return Outlook(due, holding, not_before, triggers.new_labels(project, last))


def _start_if_due(project: Project, now: datetime) -> bool:
    """Check one project. A scheduled time that is held back waits; one with nothing new is skipped."""
    rounds = project.policies.rounds
    if not rounds.automatic:
        return False
    if rounds.drift_above:
        drift.remember(project)
    cause = triggers.due_cause(project, now)
    if cause is not None:
        watch(project)  # the latest labels may not have been looked at yet
    started = cause is not None and not limits.holds(project, now) and _start(project, cause)
    busy = project.training_runs.filter(state__in=TrainingRun.LIVE).exists() and not started
    if rounds.cron and (started or (cause is None and not busy) or _first_look(project)):
        triggers.look_at_clock(project, now)
    return started


def _start(project: Project, cause: Cause) -> bool:
    try:
        request_run(by=None, project=project, trigger=cause.trigger, reason=cause.sentence)
    except DomainError as error:
        log.info("No round of %s yet: %s", project.slug, error.message)
        return False
    return True


def _first_look(project: Project) -> bool:
    clock = getattr(project, "round_clock", None)
    return clock is None or clock.looked_at is None


def _free_time(project: Project, after: datetime) -> datetime | None:
    """The schedule's next time from `after` outside of quiet hours, or the end of those that hold it back."""
    rounds = project.policies.rounds
    time = next_time(rounds, after)
    return None if time is None else quiet_until(rounds, time) or time
