"""What holds a round back that would begin by itself: quiet hours, the budget, and labels that are in doubt."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from annotation.labels.quality.agreement import first_error_agreement
from annotation.labels.quality.batches import waits_for_decision
from annotation.loop.rounds.timetable import quiet_until, start_of_month
from annotation.models import Project, RunStage
from prm.messages import Message

ENDLESS = timedelta(days=7)  # what lasts longer than a week of windows lasts for ever
LEAST_PAIRS = 20  # of people on one solution, before their agreement counts as known


@dataclass(frozen=True)
class Hold:
    """`until` is when it ends by itself; None where something has to happen first."""

    code: str
    sentence: Message
    until: datetime | None = None


def holds(project: Project, now: datetime) -> list[Hold]:
    """Everything that keeps a round from beginning by itself at `now`; a person may begin one all the same."""
    found = [
        _quiet(project, now),
        _runs_today(project, now),
        _hours_this_month(project, now),
        _agreement(project),
        _suspicion(project),
    ]
    return [hold for hold in found if hold is not None]


def training_hours(project: Project, since: datetime) -> float:
    """Hours that this project's trainings have run, of the runs begun since."""
    trained = RunStage.objects.filter(run__project=project, name=RunStage.Name.TRAIN, started_at__gte=since)
    return (trained.aggregate(total=Sum("seconds"))["total"] or 0.0) / 3600


def below_floor(project: Project) -> float | None:
    """The share of pairs that agree on the first error, where it is below the policy's floor."""
    floor = project.policies.rounds.agreement_floor
    if not floor:
        return None
    agreement = first_error_agreement(project)
    too_low = agreement.exact is not None and agreement.pairs >= LEAST_PAIRS and agreement.exact < floor
    return agreement.exact if too_low else None


def _quiet(project: Project, now: datetime) -> Hold | None:
    rounds = project.policies.rounds
    until = quiet_until(rounds, now)
    if until is None:
        return None
    if until - now > ENDLESS:
        return Hold("quiet_hours", Message("quiet_hours_endless"))
    return Hold(
        "quiet_hours", Message("in_quiet_hours", until=f"{until:%Y-%m-%d %H:%M}", time_zone=rounds.time_zone), until
    )


def _runs_today(project: Project, now: datetime) -> Hold | None:
    rounds = project.policies.rounds
    today = rounds.start_of_day(now)
    begun = project.training_runs.filter(created_at__gte=today).count() if rounds.runs_per_day else 0
    if not rounds.runs_per_day or begun < rounds.runs_per_day:
        return None
    return Hold(
        "runs_per_day", Message("runs_per_day_used", n=begun, budget=rounds.runs_per_day), today + timedelta(days=1)
    )


def _hours_this_month(project: Project, now: datetime) -> Hold | None:
    rounds = project.policies.rounds
    if not rounds.training_hours_per_month:
        return None
    month = start_of_month(rounds, now)
    used = training_hours(project, month)
    if used < rounds.training_hours_per_month:
        return None
    return Hold(
        "training_hours",
        Message("training_hours_used", used=used, budget=rounds.training_hours_per_month),
        (month + timedelta(days=32)).replace(day=1),
    )


def _agreement(project: Project) -> Hold | None:
    share = below_floor(project)
    if share is None:
        return None
    return Hold(
        "agreement_floor", Message("agreement_below_floor", share=share, floor=project.policies.rounds.agreement_floor)
    )


def _suspicion(project: Project) -> Hold | None:
    if not waits_for_decision(project):
        return None
    return Hold("suspected_batch", Message("suspected_batch_waits"))
