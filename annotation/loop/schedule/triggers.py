"""Why a round is due: enough new labels, a time of the schedule, or scores that drifted."""

from dataclasses import dataclass
from datetime import datetime

from annotation.loop.rounds.runs import training_labels
from annotation.loop.rounds.timetable import next_time
from annotation.models import Project, RoundClock, TrainingRun
from prm.messages import Message

DRIFT_OF = {"imports": Message("drift_of_new_solutions"), "served": Message("drift_of_served_solutions")}


@dataclass(frozen=True)
class Cause:
    """`trigger` is one of TrainingRun.Trigger; `sentence` has the figure that made it due."""

    trigger: str
    sentence: Message


def due_cause(project: Project, now: datetime) -> Cause | None:
    """The first of the policy's causes that applies; None while a run is active."""
    last = project.training_runs.order_by("-number").first()
    if last is not None and last.state in TrainingRun.LIVE:
        return None
    new = new_labels(project, last)
    return _labels(project, new) or _schedule(project, new, now) or _drift(project, last)


def new_labels(project: Project, last: TrainingRun | None) -> int:
    """Labels of the kinds that train, since the last run was asked for."""
    labels = training_labels(project)
    return labels.filter(submitted_at__gt=last.created_at).count() if last else labels.count()


def pending_time(project: Project, now: datetime) -> datetime | None:
    """The first due time of the schedule that is not handled yet."""
    clock = RoundClock.objects.filter(project=project).first()
    if clock is None or clock.looked_at is None:
        return None
    time = next_time(project.policies.rounds, clock.looked_at)
    return time if time is not None and time <= now else None


def look_at_clock(project: Project, now: datetime) -> None:
    """Deal with the schedule's times up to now: however many were missed, they begin one round."""
    RoundClock.objects.update_or_create(project=project, defaults={"looked_at": now})


def _labels(project: Project, new: int) -> Cause | None:
    wanted = project.policies.rounds.after_labels
    if not wanted or new < wanted:
        return None
    return Cause(TrainingRun.Trigger.LABELS, Message("retrain_by_labels", labels=_came(new), wanted=wanted))


def _schedule(project: Project, new: int, now: datetime) -> Cause | None:
    time = pending_time(project, now)
    if time is None or not new:
        return None
    rounds = project.policies.rounds
    return Cause(
        TrainingRun.Trigger.SCHEDULE,
        Message(
            "retrain_by_schedule",
            cron=rounds.cron,
            time=f"{time:%Y-%m-%d %H:%M}",
            time_zone=rounds.time_zone,
            labels=_came(new),
        ),
    )


def _came(new: int) -> Message:
    return Message("labels_since_last_run", n=new)


def _drift(project: Project, last: TrainingRun | None) -> Cause | None:
    above = project.policies.rounds.drift_above
    clock = RoundClock.objects.filter(project=project).first()
    if not above or clock is None or clock.drift is None or clock.measured_at is None or clock.drift <= above:
        return None
    if last is not None and clock.measured_at <= last.created_at:
        return None  # the run that came since has learned of it
    return Cause(
        TrainingRun.Trigger.DRIFT,
        Message("retrain_by_drift", them=DRIFT_OF[clock.drift_of], drift=clock.drift, n=clock.drift_n, above=above),
    )
