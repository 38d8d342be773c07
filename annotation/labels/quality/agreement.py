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
    """Pairs of people on one solution: all, with the same first error, at most one step apart."""

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
    exact = sum(first == second for first, second in pairs)
    next_to = sum(min(pair) >= 0 and abs(pair[0] - pair[1]) == 1 for pair in pairs)
    return Pairs(len(pairs), exact, exact + next_to)


def first_error_agreement(project: Project) -> Agreement:
    """Over the solutions on which two or more people, real or simulated, have told a first error."""
    solutions = _shared_solutions(project).annotate(words=ArrayAgg("first_error"))
    return agreement_of(list(solutions.values_list("words", flat=True)))


def agreement_of(first_errors: list[list[int]]) -> Agreement:
    """`first_errors` lists, for each solution, the first errors that people gave. Pure."""
    counted = [count_pairs(words) for words in first_errors]
    pairs, exact, within_one = (sum(column) for column in zip(Pairs(), *counted, strict=True))
    return Agreement(
        solutions=sum(count.all > 0 for count in counted),
        pairs=pairs,
        exact=exact / pairs if pairs else None,
        within_one=within_one / pairs if pairs else None,
    )


def agreement_by_day(project: Project) -> list[tuple[date, Pairs]]:
    """Pairs by the day, in UTC, on which the latest opinion on their solution came in."""
    days: dict[date, list[Pairs]] = {}
    solutions = _shared_solutions(project).annotate(words=ArrayAgg("first_error"), at=Max("submitted_at"))
    for words, at in solutions.values_list("words", "at"):
        days.setdefault(at.date(), []).append(count_pairs(words))
    return [(day, Pairs(*map(sum, zip(*days[day], strict=True)))) for day in sorted(days)]


def agreement_by_member(project: Project) -> dict[int, float]:
    """Membership id -> share of pairs with others on a shared solution that name the same first error."""
    solutions = _shared_solutions(project).annotate(
        people=ArrayAgg("annotator", order_by="pk"), words=ArrayAgg("first_error", order_by="pk")
    )
    same: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for people, words in solutions.values_list("people", "words"):
        for (first, word), (second, other_word) in combinations(zip(people, words, strict=True), 2):
            for person in (first, second):
                pairs[person] += 1
                same[person] += word == other_word
    return {person: same[person] / n for person, n in pairs.items()}


def disagreements(project: Project) -> QuerySet[Solution]:
    """Undecided solutions on which people disagree about the first error; gold counts as decided."""
    split = _shared_solutions(project).annotate(words=Count("first_error", distinct=True)).filter(words__gt=1)
    return Solution.objects.filter(project=project, pk__in=split.values("solution")).filter(
        ~is_adjudicated(), ~is_gold()
    )


def _shared_solutions(project: Project) -> QuerySet[Annotation, Any]:
    """Solutions for which two or more people gave a first error, grouped for aggregates over their labels."""
    known = own_opinions(project).filter(first_error__isnull=False).exclude(lane__in=HIDDEN_LANES)
    return known.values("solution").annotate(people_count=Count("pk")).filter(people_count__gt=1)
