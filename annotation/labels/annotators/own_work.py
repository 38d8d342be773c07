"""Statistics of a person's own work: labels, time, accuracy on gold and agreement with others."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Annotated

from django.db import models
from django.db.models import Sum
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotation.core.bounds import Count, about
from annotation.labels.labour.statistics import Median
from annotation.models import HIDDEN_LANES, Membership
from annotation.work.annotations import latest_annotations
from annotation.work.gold.gold_accuracy import Share, accuracy_of, share_of
from annotation.work.gold.gold_answers import answers_to, read_answers
from prm.vocabulary import MACHINES

DAYS = 30
# A share of today's answers, or of a few, would reveal which solution was gold, or how others labelled it.
LEAST = 10


@dataclass(frozen=True)
class OwnDay:
    day: Annotated[date, about("The day, in the project's time zone.")]
    labels: Annotated[Count, about("Number of labels.")]
    seconds: Annotated[float, about("Time in seconds.")]


@dataclass(frozen=True)
class OwnFigures:
    """Statistics of the latest revision of each of a person's labels."""

    today: Annotated[Count, about("Labels today.")]
    total: Annotated[Count, about("Number of labels.")]
    median_seconds: Annotated[float | None, about("Median time per label.")]
    seconds: Annotated[float, about("Total time.")]
    days: Annotated[
        list[OwnDay], about("Labels on each of the last thirty days in the project's time zone, today last.")
    ]
    gold: Annotated[
        Share | None,
        about(
            "Right answers on hidden gold until yesterday; null for fewer than ten, or if the policy "
            "(`feedback.gold`) hides them."
        ),
    ]
    peers: Annotated[
        Share | None,
        about(
            "Labels by others on the same solutions with the same first error, until yesterday; null as above "
            "(`feedback.peers`)."
        ),
    ]


def own_work(membership: Membership) -> OwnFigures:
    """The statistics that a person sees of their own work."""
    policies = membership.project.policies
    midnight = policies.rounds.start_of_day(timezone.now())
    labels = latest_annotations(membership.project).filter(annotator=membership.pk)
    figures = labels.aggregate(total=models.Count("pk"), median=Median("total_ms"), ms=Sum("total_ms"))
    days = _days(membership, midnight)
    median = figures["median"]
    return OwnFigures(
        today=days[-1].labels,
        total=figures["total"],
        median_seconds=None if median is None else median / 1000,
        seconds=(figures["ms"] or 0) / 1000,
        days=days,
        gold=_large_enough(_on_gold(membership, midnight)) if policies.feedback.gold else None,
        peers=_large_enough(_with_peers(membership, midnight)) if policies.feedback.peers else None,
    )


def _days(membership: Membership, midnight: datetime) -> list[OwnDay]:
    since = midnight - timedelta(days=DAYS - 1)
    labels = latest_annotations(membership.project).filter(annotator=membership.pk, submitted_at__gte=since)
    rows = (
        labels.annotate(day=TruncDate("submitted_at", tzinfo=midnight.tzinfo))
        .values_list("day")
        .annotate(n=models.Count("pk"), ms=Sum("total_ms"))
    )
    worked = {day: OwnDay(day, n, (ms or 0) / 1000) for day, n, ms in rows}
    wanted = [since.date() + timedelta(days=n) for n in range(DAYS)]
    return [worked.get(day, OwnDay(day, 0, 0.0)) for day in wanted]


def _on_gold(membership: Membership, before: datetime) -> Share:
    answers = read_answers(answers_to(membership.project, annotator=membership.pk, submitted_at__lt=before))
    return accuracy_of(answers, tolerance=membership.project.policies.gold.tolerance).right


def _with_peers(membership: Membership, before: datetime) -> Share:
    labels = latest_annotations(membership.project).filter(first_error__isnull=False, submitted_at__lt=before)
    labels = labels.exclude(lane__in=HIDDEN_LANES).exclude(adjudicates=True).exclude(source__kind__in=MACHINES)
    own = dict(labels.filter(annotator=membership.pk).values_list("solution", "first_error"))
    shared = labels.filter(solution__in=labels.filter(annotator=membership.pk).values("solution"))
    others = shared.exclude(annotator=membership.pk).values_list("solution", "first_error")
    pairs = [own[solution] == first_error for solution, first_error in others]
    return share_of(sum(pairs), len(pairs))


def _large_enough(share: Share) -> Share | None:
    return share if share.of >= LEAST else None
