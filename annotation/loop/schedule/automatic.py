"""Automatic rounds, and the forecast of the next one."""

import logging
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.core.periodic import for_each
from annotation.labels.annotators.batch_watch import watch
from annotation.loop.rounds import limits
from annotation.loop.rounds.limits import Hold
from annotation.loop.rounds.runs import request_run, training_labels
from annotation.loop.schedule import drift
from annotation.models import Project, RoundClock, TrainingRun
from prm.messages import Message

log = logging.getLogger(__name__)
DRIFT_OF = {"imports": Message("drift_of_new_solutions"), "served": Message("drift_of_served_solutions")}


@dataclass(frozen=True)
class Cause:
    """Why a round is due: one of TrainingRun.Trigger, and a sentence with the figure."""

    trigger: str
    sentence: Message


@dataclass(frozen=True)
class Outlook:
    """The forecast of the next automatic round.

    `due` is a cause that already applies. `not_before` is the earliest known time; None if it depends on labels, on
    scores, or on a hold without an end.
    """

    due: Cause | None
    holds: list[Hold]
    not_before: datetime | None
    new_labels: int


def start_due_runs(now: datetime | None = None) -> int:
    """Start the rounds that are due by the projects' policies; returns how many."""
    now = now or timezone.now()
    return for_each(Project.objects.filter(state=Project.State.ACTIVE), lambda project: _start_if_due(project, now))


def outlook(project: Project, now: datetime | None = None) -> Outlook | None:
    """The forecast of the project's next automatic round; None if no cause is configured."""
    now = now or timezone.now()
    rounds = project.policies.rounds
    if not rounds.automatic:
        return None
    due, holding = due_cause(project, now), limits.holds(project, now)
    ends = [hold.until for hold in holding]
    known_ends = [end for end in ends if end is not None]
    free = max(known_ends, default=now)
    if None in ends:
        not_before = None
    elif due is not None:
        not_before = free
    else:
        time = rounds.next_time(free)
        not_before = max(known_ends, default=None) if time is None else rounds.quiet_until(time) or time
    return Outlook(due, holding, not_before, _new_labels(project, project.training_runs.first()))


def due_cause(project: Project, now: datetime) -> Cause | None:
    """The first of the policy's causes that applies: labels, schedule, drift. None while a run is active."""
    last = project.training_runs.first()
    if last is not None and last.live:
        return None
    rounds, clock = project.policies.rounds, RoundClock.objects.filter(project=project).first()
    new = _new_labels(project, last)
    labels = Message("labels_since_last_run", n=new)
    if rounds.after_labels and new >= rounds.after_labels:
        return Cause(
            TrainingRun.Trigger.LABELS, Message("retrain_by_labels", labels=labels, wanted=rounds.after_labels)
        )
    if clock is None:
        return None
    time = rounds.next_time(clock.looked_at) if clock.looked_at else None
    if time is not None and time <= now and new:
        return Cause(
            TrainingRun.Trigger.SCHEDULE,
            Message(
                "retrain_by_schedule",
                cron=rounds.cron,
                time=f"{time:%Y-%m-%d %H:%M}",
                time_zone=rounds.time_zone,
                labels=labels,
            ),
        )
    above = rounds.drift_above
    if not above or clock.drift is None or clock.measured_at is None or clock.drift <= above:
        return None
    if last is not None and clock.measured_at <= last.created_at:
        return None  # a later run has learned from these solutions
    return Cause(
        TrainingRun.Trigger.DRIFT,
        Message("retrain_by_drift", them=DRIFT_OF[clock.drift_of], drift=clock.drift, n=clock.drift_n, above=above),
    )


def _new_labels(project: Project, last: TrainingRun | None) -> int:
    """Labels of the kinds that train, since the last run was requested."""
    labels = training_labels(project)
    return labels.filter(submitted_at__gt=last.created_at).count() if last else labels.count()


def _start_if_due(project: Project, now: datetime) -> bool:
    """Start a project's round if it is due; returns whether it started.

    A scheduled time with a hold waits; one without new labels is skipped. Several missed times start one round.
    """
    rounds = project.policies.rounds
    if not rounds.automatic:
        return False
    if rounds.drift_above:
        drift.update_drift(project)
    cause = due_cause(project, now)
    if cause is not None:
        watch(project)  # checks the latest labels before they train a model
    started = cause is not None and not limits.holds(project, now) and _start(project, cause)
    busy = project.training_runs.filter(state__in=TrainingRun.LIVE).exists() and not started
    never_checked = not RoundClock.objects.filter(project=project, looked_at__isnull=False).exists()
    if rounds.cron and (started or (cause is None and not busy) or never_checked):
        RoundClock.objects.update_or_create(project=project, defaults={"looked_at": now})
    return started


def _start(project: Project, cause: Cause) -> bool:
    try:
        request_run(by=None, project=project, trigger=cause.trigger, reason=cause.sentence)
    except DomainError as error:
        log.info("No round of %s yet: %s", project.slug, error.message)
        return False
    return True
