"""The times of people's labels."""

from datetime import datetime, timedelta

from django.db.models import Count, Q, Sum
from django.db.models.functions import Length
from django.utils import timezone

from annotation.labels.annotators.batches import in_use
from annotation.labels.annotators.haste import Timed
from annotation.labels.annotators.judged_labels import LATEST, name_of
from annotation.models import Annotation, Membership, Project
from annotation.work.annotations import own_opinions
from prm.vocabulary import FINISHED

PERIOD = timedelta(days=90)  # older labels do not raise an alarm


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
