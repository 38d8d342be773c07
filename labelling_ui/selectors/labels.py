"""Labels that people gave: how many a day, what one costs, where people agree and where not."""

from collections import Counter
from collections.abc import Iterable
from datetime import date, datetime, timedelta
from itertools import combinations

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Exists, Max, OuterRef, Q, QuerySet
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotation.models import Annotation, Project, Solution, StepRating
from annotation.quality.statistics import Median, latest_annotations


def labels_by_day(project: Project, *, days: int) -> list[tuple[date, int]]:
    """Labels given on each of the last `days` days, in UTC, today last."""
    today = timezone.now().date()
    since = today - timedelta(days=days - 1)
    given: dict[date, int] = dict(
        latest_annotations(project)
        .filter(submitted_at__date__gte=since)
        .annotate(day=TruncDate("submitted_at"))
        .values_list("day")
        .annotate(n=Count("pk"))
        .order_by("day")
    )
    return [(day, given.get(day, 0)) for day in (since + timedelta(days=i) for i in range(days))]


def forecast(*, remaining: int, labels: list[tuple[date, int]], now: datetime) -> date | None:
    """The day the rest is done at the pace of the last seven days; None where nobody labels or nothing is left."""
    recent = sum(n for _, n in labels[-7:])
    if not recent or remaining <= 0:
        return None
    return (now + timedelta(days=7 * remaining / recent)).date()


def median_seconds(project: Project) -> float | None:
    """What a label costs: the median time over one, of people where there are people, else of simulated ones."""
    for simulated in (False, True):
        labels = latest_annotations(project).filter(annotator__simulated=simulated)
        middle = labels.aggregate(middle=Median("total_ms"))["middle"]
        if middle is not None:
            return float(middle) / 1000
    return None


def disagreements(project: Project) -> QuerySet[Solution]:
    """Solutions whose people name different first errors, where nobody has decided yet."""
    split = (
        latest_annotations(project)
        .filter(first_error__isnull=False)
        .values("solution")
        .annotate(words=Count("first_error", distinct=True))
        .filter(words__gt=1)
        .values("solution")
    )
    decided = Annotation.objects.filter(solution=OuterRef("pk"), adjudicates=True)
    return Solution.objects.filter(project=project, pk__in=split).filter(~Exists(decided))


def agreement_by_day(project: Project) -> list[tuple[date, int, int]]:
    """(day, pairs that name the same first error, pairs) by the day the second opinion came in."""
    solutions = (
        latest_annotations(project)
        .filter(first_error__isnull=False)
        .values("solution")
        .annotate(words=ArrayAgg("first_error"), at=Max("submitted_at"), n=Count("pk"))
        .filter(n__gt=1)
        .values_list("words", "at")
    )
    same: Counter[date] = Counter()
    pairs: Counter[date] = Counter()
    for words, at in solutions:
        agreeing, all_pairs = pair_agreement(words)
        same[at.date()] += agreeing
        pairs[at.date()] += all_pairs
    return [(day, same[day], pairs[day]) for day in sorted(pairs)]


def pair_agreement(words: Iterable[int]) -> tuple[int, int]:
    """How many pairs of first errors are equal, and how many pairs there are."""
    pairs = list(combinations(words, 2))
    return sum(a == b for a, b in pairs), len(pairs)


def ratings_by_position(project: Project, *, positions: int) -> list[tuple[int, str, int]]:
    """(position, "good" | "neutral" | "bad" | "unsure", count) of people's ratings, first `positions` only."""
    names = {1: "good", 0: "neutral", -1: "bad", None: "unsure"}
    rows = (
        StepRating.objects.filter(annotation__in=latest_annotations(project), step__position__lt=positions)
        .exclude(state=StepRating.State.NOT_REACHED)
        .values_list("step__position", "rating")
        .annotate(n=Count("pk"))
        .order_by("step__position")
    )
    return [(position, names[rating], n) for position, rating, n in rows]


def yield_by_generation(project: Project) -> list[tuple[int, str, int, int]]:
    """(generation, lane, labels that found an error, labels) of the control and acquisition lanes."""
    rows = (
        latest_annotations(project)
        .filter(lane__in=["control", "acquisition"], first_error__isnull=False)
        .values_list("item__generation__number", "lane")
        .annotate(found=Count("pk", filter=Q(first_error__gte=0)), n=Count("pk"))
        .order_by("item__generation__number")
    )
    return [row for row in rows if row[0] is not None]


def agreement_by_member(project: Project) -> dict[int, float]:
    """Membership id -> share of pairs with others on a shared solution that name the same first error."""
    solutions = (
        latest_annotations(project)
        .filter(first_error__isnull=False)
        .values("solution")
        .annotate(people=ArrayAgg("annotator", order_by="pk"), words=ArrayAgg("first_error", order_by="pk"))
        .annotate(n=Count("pk"))
        .filter(n__gt=1)
        .values_list("people", "words")
    )
    same: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for people, words in solutions:
        for (one, word), (other, other_word) in combinations(zip(people, words, strict=True), 2):
            for person in (one, other):
                pairs[person] += 1
                same[person] += word == other_word
    return {person: same[person] / n for person, n in pairs.items()}
