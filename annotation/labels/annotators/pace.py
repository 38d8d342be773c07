"""How people work: their time per label and step, and the share of ratings that one key gave."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotation.labels.annotators.batches import in_use
from annotation.labels.annotators.haste import Timed
from annotation.labels.annotators.judged_labels import LATEST, name_of
from annotation.labels.quality.statistics import Median
from annotation.models import Annotation, Membership, PathStep, Project, StepRating
from annotation.work.annotations import own_opinions
from annotation.work.gold.gold_accuracy import Share, share_of
from prm.vocabulary import FINISHED

PERIOD = timedelta(days=90)  # older labels do not raise an alarm


@dataclass(frozen=True)
class Pace:
    """The pace of a person's latest labels, without adjudications: median seconds per label and per step, None if there
    are no times, and the share of ratings that one key gave together with others."""

    labels: int
    label_seconds: float | None
    step_seconds: float | None
    accepted: Share


def pace_by_person(project: Project, person: int | None = None) -> dict[int, Pace]:
    """The pace of each person who labelled, or of one `person`, by membership."""
    labels = own_opinions(project)
    if person is not None:
        labels = labels.filter(annotator=person)
    rows = labels.order_by().values_list("annotator").annotate(n=Count("pk"), median=Median("total_ms"))
    places = (
        PathStep.objects.filter(annotation__in=labels, dwell_ms__gt=0).order_by().values_list("annotation__annotator")
    )
    on_a_step = dict(places.annotate(median=Median("dwell_ms")))
    rated = StepRating.objects.filter(annotation__in=labels, state="rated")
    counts = (
        rated.order_by()
        .values_list("annotation__annotator")
        .annotate(accepted=Count("pk", filter=Q(accepted=True)), of=Count("pk"))
    )
    shares = {annotator: share_of(accepted, of) for annotator, accepted, of in counts}
    return {
        annotator: Pace(n, _seconds(median), _seconds(on_a_step.get(annotator)), shares.get(annotator, share_of(0, 0)))
        for annotator, n, median in rows
    }


def timed_labels(project: Project) -> list[Timed]:
    """The times of people's latest labels that rate steps and are in use.

    A label that was sent without a time took at most as long as since its annotator's submission before.
    """
    labels = own_opinions(project).filter(
        annotator__kind=Membership.Kind.PERSON,
        finish_reason__in=FINISHED,
        submitted_at__gte=timezone.now() - PERIOD,
    )
    latest = Annotation.objects.filter(pk__in=in_use(labels).order_by("-pk").values("pk")[:LATEST])
    is_rated = Q(ratings__state="rated")
    rows = (
        latest.annotate(steps=Count("ratings", filter=is_rated))
        .filter(steps__gt=0)
        .annotate(characters=Sum(Length("ratings__step__text"), filter=is_rated))
        .order_by("submitted_at", "pk")
        .values_list("pk", "annotator", "submitted_at", "total_ms", "steps", "characters", "lease")
    )
    timed, before = [], dict[int | None, datetime]()
    for pk, annotator, at, total_ms, steps, characters, lease in rows:
        ms = float(total_ms or 0)
        if not ms and lease and annotator in before:
            ms = (at - before[annotator]).total_seconds() * 1000
        before[annotator] = at
        if ms:
            timed.append(Timed(pk, name_of(annotator, None), at, ms, steps, characters or 0))
    return timed


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000
