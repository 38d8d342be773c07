"""A project's progress, and its labels by day, by position and by lane."""

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from annotation.models import HIDDEN_LANES, Generation, Project, QueueItem, StepRating
from annotation.work.annotations import latest_annotations
from prm.vocabulary import MACHINES, WORD_OF


def labels_by_day(project: Project, *, days: int) -> list[tuple[date, int]]:
    """The number of labels on each of the last `days` days in the reader's time zone, today last."""
    today = timezone.localdate()
    since = today - timedelta(days=days - 1)
    counts: dict[date, int] = dict(
        latest_annotations(project)
        .filter(submitted_at__date__gte=since)
        .annotate(day=TruncDate("submitted_at"))
        .values_list("day")
        .annotate(n=Count("pk"))
        .order_by("day")
    )
    return [(day, counts.get(day, 0)) for day in (since + timedelta(days=i) for i in range(days))]


def forecast(*, remaining: int, labels: list[tuple[date, int]], now: datetime) -> date | None:
    """The day on which labelling ends at the pace of the last seven days; None if nobody labels or nothing is left.

    Days before the first label do not count: on its first days, a team would seem seven times slower than it is.
    """
    began = next((at for at, (_, n) in enumerate(labels) if n), 0)
    days = min(7, len(labels) - began)
    recent = sum(n for _, n in labels[-7:])
    if not recent or remaining <= 0:
        return None
    last = (date.max - now.date()).days - 1  # a large generation with few labels would end after it
    return (now + timedelta(days=min(days * remaining / recent, last))).date()


def ratings_by_position(project: Project, *, positions: int) -> list[tuple[int, str, int]]:
    """(position, "good" | "neutral" | "bad" | "unsure", count) of people's ratings, first `positions` only."""
    labels = latest_annotations(project).exclude(source__kind__in=MACHINES)
    rows = (
        StepRating.objects.filter(annotation__in=labels, step__position__lt=positions)
        .exclude(state="not_reached")
        .values_list("step__position", "rating")
        .annotate(n=Count("pk"))
        .order_by("step__position")
    )
    return [(position, WORD_OF[rating], n) for position, rating, n in rows]


def yield_by_generation(project: Project) -> list[tuple[int, str, int, int]]:
    """(generation, lane, people's labels that found an error, people's labels), control and acquisition lanes."""
    rows = (
        latest_annotations(project)
        .exclude(source__kind__in=MACHINES)
        .filter(lane__in=["control", "acquisition"], first_error__isnull=False)
        .values_list("item__generation__number", "lane")
        .annotate(errors=Count("pk", filter=Q(first_error__gte=0)), n=Count("pk"))
        .order_by("item__generation__number")
    )
    return [row for row in rows if row[0] is not None]


@dataclass(frozen=True)
class Progress:
    """Labels done and wanted in the open generation; `total` counts the labels of the whole project."""

    generation: Generation | None
    done: int
    wanted: int
    total: int
    finished_on: date | None


def drawn_items() -> QuerySet[QueueItem]:
    """The items that generations drew; those of gold and screening arise when people claim."""
    return QueueItem.objects.exclude(lane__in=HIDDEN_LANES)


def generations_with_places(project: Project) -> QuerySet[Generation]:
    """The generations with the sums of their drawn items' `wanted` and `done`."""
    items = drawn_items().filter(generation=OuterRef("pk")).order_by().values("generation")
    return project.generations.annotate(
        wanted=Coalesce(Subquery(items.annotate(n=Sum("wanted")).values("n")), 0),
        done=Coalesce(Subquery(items.annotate(n=Sum("done")).values("n")), 0),
    )


def progress_of(project: Project, labels: list[tuple[date, int]]) -> Progress:
    """`labels` are those of the last days, for the forecast."""
    open_one: Any = generations_with_places(project).filter(state=Generation.State.OPEN).first()
    done, wanted = (open_one.done, open_one.wanted) if open_one else (0, 0)
    return Progress(
        generation=open_one,
        done=done,
        wanted=wanted,
        total=latest_annotations(project).count(),
        finished_on=forecast(remaining=wanted - done, labels=labels, now=timezone.localtime()),
    )
