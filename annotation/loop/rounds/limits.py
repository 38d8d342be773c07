"""The conditions that delay an automatic round: quiet hours, budgets, and doubtful labels."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Sum

from annotation.labels.agreement.cube import agreement_of
from annotation.labels.annotators.batches import waits_for_decision
from annotation.models import Project, RunStage
from prm.messages import Message

ENDLESS = timedelta(days=7)  # windows repeat every week, so longer quiet hours never end
LEAST_PAIRS = 20  # pairs of annotators of one solution; with fewer, agreement counts as unknown


@dataclass(frozen=True)
class Hold:
    """A condition that delays a round, with the time of its end; None if that depends on people."""

    code: str
    sentence: Message
    until: datetime | None = None


def holds(project: Project, now: datetime) -> list[Hold]:
    """The conditions that delay an automatic round at `now`. A person may start a round in spite of them."""
    rounds, holding = project.policies.rounds, []
    if until := rounds.quiet_until(now):
        if until - now > ENDLESS:
            holding.append(Hold("quiet_hours", Message("quiet_hours_endless")))
        else:
            end = f"{until:%Y-%m-%d %H:%M}"
            message = Message("in_quiet_hours", until=end, time_zone=rounds.time_zone)
            holding.append(Hold("quiet_hours", message, until))
    today = rounds.start_of_day(now)
    if rounds.runs_per_day:
        begun = project.training_runs.filter(created_at__gte=today).count()
        if begun >= rounds.runs_per_day:
            message = Message("runs_per_day_used", n=begun, budget=rounds.runs_per_day)
            holding.append(Hold("runs_per_day", message, today + timedelta(days=1)))
    month = today.replace(day=1)
    if budget := rounds.training_hours_per_month:
        trained = RunStage.objects.filter(run__project=project, name=RunStage.Name.TRAIN, started_at__gte=month)
        used = (trained.aggregate(total=Sum("seconds"))["total"] or 0.0) / 3600
        if used >= budget:
            message = Message("training_hours_used", used=used, budget=budget)
            holding.append(Hold("training_hours", message, (month + timedelta(days=32)).replace(day=1)))
    if (share := below_floor(project)) is not None:
        message = Message("agreement_below_floor", share=share, floor=rounds.agreement_floor)
        holding.append(Hold("agreement_floor", message))
    if waits_for_decision(project):
        holding.append(Hold("suspected_batch", Message("suspected_batch_waits")))
    return holding


def below_floor(project: Project) -> float | None:
    """The share of pairs that agree on the first error if it is below the policy's floor, else None."""
    floor = project.policies.rounds.agreement_floor
    if not floor:
        return None
    agreement = agreement_of(project, resamples=0)
    too_low = agreement.value is not None and agreement.pairs >= LEAST_PAIRS and agreement.value < floor
    return agreement.value if too_low else None
