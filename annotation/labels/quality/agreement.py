"""How far people agree on where the first error is."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from itertools import combinations
from typing import Any, NamedTuple

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Max, QuerySet

from annotation.models import HIDDEN_LANES, Annotation, Project, Solution
from annotation.work.annotations import is_adjudicated, own_opinions
from annotation.work.gold.designation import is_gold


class Pairs(NamedTuple):
    """Pairs of people on one solution: all, those with the same first error, those at most one step apart."""

    all: int = 0
    exact: int = 0
    within_one: int = 0


@dataclass(frozen=True)
class Agreement:
    """Shares of the pairs of people that labelled the same solution; None where there is no pair."""

    solutions: int
    pairs: int
    exact: float | None
    within_one: float | None


def count_pairs(words: Iterable[int]) -> Pairs:
    """Of the first errors that people gave on one solution; "no error" (-1) has no neighbour. Pure."""
    pairs = list(combinations(words, 2))
    exact = sum(one == other for one, other in pairs)
    next_to = sum(min(pair) >= 0 and abs(pair[0] - pair[1]) == 1 for pair in pairs)
    return Pairs(len(pairs), exact, exact + next_to)


def first_error_agreement(project: Project) -> Agreement:
    """Over the solutions on which two or more people, real or simulated, have told a first error."""
    return agreement_of(list(_told(project).annotate(words=ArrayAgg("first_error")).values_list("words", flat=True)))


def agreement_of(told: list[list[int]]) -> Agreement:
    """`told` has, for each solution, the first errors that people gave; pure."""
    counted = [count_pairs(words) for words in told]
    pairs, exact, within_one = (sum(column) for column in zip(Pairs(), *counted, strict=True))
    return Agreement(
        solutions=sum(one.all > 0 for one in counted),
        pairs=pairs,
        exact=exact / pairs if pairs else None,
        within_one=within_one / pairs if pairs else None,
    )


def agreement_by_day(project: Project) -> list[tuple[date, Pairs]]:
    """Pairs by the day, in UTC, on which the latest opinion on their solution came in."""
    days: dict[date, list[Pairs]] = {}
    told = _told(project).annotate(words=ArrayAgg("first_error"), at=Max("submitted_at"))
    for words, at in told.values_list("words", "at"):
        days.setdefault(at.date(), []).append(count_pairs(words))
    return [(day, Pairs(*map(sum, zip(*days[day], strict=True)))) for day in sorted(days)]


def agreement_by_member(project: Project) -> dict[int, float]:
    """Membership id -> share of pairs with others on a shared solution that name the same first error."""
    told = _told(project).annotate(
        people=ArrayAgg("annotator", order_by="pk"), words=ArrayAgg("first_error", order_by="pk")
    )
    same: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for people, words in told.values_list("people", "words"):
        for (one, word), (other, other_word) in combinations(zip(people, words, strict=True), 2):
            for person in (one, other):
                pairs[person] += 1
                same[person] += word == other_word
    return {person: same[person] / n for person, n in pairs.items()}


def disagreements(project: Project) -> QuerySet[Solution]:
    """Solutions whose people name different first errors, where nobody has decided yet; gold is decided."""
    split = _told(project).annotate(words=Count("first_error", distinct=True)).filter(words__gt=1)
    return Solution.objects.filter(project=project, pk__in=split.values("solution")).filter(
        ~is_adjudicated(), ~is_gold()
    )


def _told(project: Project) -> QuerySet[Annotation, Any]:
    """The solutions on which two or more people told a first error, to be annotated with what they told."""
    known = own_opinions(project).filter(first_error__isnull=False).exclude(lane__in=HIDDEN_LANES)
    return known.values("solution").annotate(people_count=Count("pk")).filter(people_count__gt=1)
