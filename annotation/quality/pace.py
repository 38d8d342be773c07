"""How people go about it: the time that they take, and how much of what they said one key accepted."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotation.models import PathStep, Project, StepRating
from annotation.quality.gold_accuracy import Share, share_of
from annotation.quality.statistics import Median, own_opinions


@dataclass(frozen=True)
class Pace:
    """Of somebody's latest labels, decisions apart: the medians of the time on one and on a step, in seconds, None
    where none was kept; and the share of their ratings that one key gave together with others."""

    labels: int
    label_seconds: float | None
    step_seconds: float | None
    accepted: Share


def pace_by_person(project: Project, person: int | None = None) -> dict[int, Pace]:
    """By membership: of one `person`, else of all who labelled."""
    labels = own_opinions(project)
    if person is not None:
        labels = labels.filter(annotator=person)
    rows = labels.order_by().values_list("annotator").annotate(n=Count("pk"), median=Median("total_ms"))
    places = (
        PathStep.objects.filter(annotation__in=labels, dwell_ms__gt=0).order_by().values_list("annotation__annotator")
    )
    on_a_step = dict(places.annotate(median=Median("dwell_ms")))
    rated = StepRating.objects.filter(annotation__in=labels, state=StepRating.State.RATED)
    counts = (
        rated.order_by()
        .values_list("annotation__annotator")
        .annotate(accepted=Count("pk", filter=Q(accepted=True)), of=Count("pk"))
    )
    shares = {who: share_of(accepted, of) for who, accepted, of in counts}
    return {
        who: Pace(n, _seconds(median), _seconds(on_a_step.get(who)), shares.get(who, share_of(0, 0)))
        for who, n, median in rows
    }


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000
