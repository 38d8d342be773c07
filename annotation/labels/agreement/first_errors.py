"""Agreement of people on the first error."""

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
    """Numbers of pairs of people on one solution: all, those with the same first error, those at most a step apart."""

    all: int = 0
    exact: int = 0
    within_one: int = 0


@dataclass(frozen=True)
class Agreement:
    """Shares of the pairs of people who labelled the same solution; None without pairs."""

    solutions: int
    pairs: int
    exact: float | None
    within_one: float | None


def count_pairs(first_errors: Iterable[int]) -> Pairs:
    """The pairs among the first errors of one solution; "no error" (-1) is never one step apart. Pure."""
    pairs = list(combinations(first_errors, 2))
    exact = sum(first == second for first, second in pairs)
    next_to = sum(min(pair) >= 0 and abs(pair[0] - pair[1]) == 1 for pair in pairs)
    return Pairs(len(pairs), exact, exact + next_to)


def first_error_agreement(project: Project) -> Agreement:
    """Agreement over the solutions on which two or more people, real or simulated, decided a first error."""
    solutions = _shared_solutions(project).annotate(first_errors=ArrayAgg("first_error"))
    return agreement_of(list(solutions.values_list("first_errors", flat=True)))


def agreement_of(first_errors: list[list[int]]) -> Agreement:
    """The agreement in lists of first errors, one list per solution. Pure."""
    counted = [count_pairs(of_solution) for of_solution in first_errors]
    pairs, exact, within_one = (sum(column) for column in zip(Pairs(), *counted, strict=True))
    return Agreement(
        solutions=sum(count.all > 0 for count in counted),
        pairs=pairs,
        exact=exact / pairs if pairs else None,
        within_one=within_one / pairs if pairs else None,
    )


def agreement_by_day(project: Project) -> list[tuple[date, Pairs]]:
    """Pairs by the day, in UTC, on which the latest label on their solution was submitted."""
    days: dict[date, list[Pairs]] = {}
    solutions = _shared_solutions(project).annotate(first_errors=ArrayAgg("first_error"), at=Max("submitted_at"))
    for first_errors, at in solutions.values_list("first_errors", "at"):
        days.setdefault(at.date(), []).append(count_pairs(first_errors))
    return [(day, Pairs(*map(sum, zip(*days[day], strict=True)))) for day in sorted(days)]


def agreement_by_member(project: Project) -> dict[int, float]:
    """The share of each member's pairs with others that have the same first error, by membership id."""
    solutions = _shared_solutions(project).annotate(
        people=ArrayAgg("annotator", order_by="pk"), first_errors=ArrayAgg("first_error", order_by="pk")
    )
    same: Counter[int] = Counter()
    pairs: Counter[int] = Counter()
    for people, first_errors in solutions.values_list("people", "first_errors"):
        for (one, error), (other, other_error) in combinations(zip(people, first_errors, strict=True), 2):
            for person in (one, other):
                pairs[person] += 1
                same[person] += error == other_error
    return {person: same[person] / n for person, n in pairs.items()}


def disagreements(project: Project) -> QuerySet[Solution]:
    """Undecided solutions on which people disagree about the first error; gold counts as decided."""
    differing = _shared_solutions(project).annotate(n=Count("first_error", distinct=True)).filter(n__gt=1)
    return Solution.objects.filter(project=project, pk__in=differing.values("solution")).filter(
        ~is_adjudicated(), ~is_gold()
    )


def _shared_solutions(project: Project) -> QuerySet[Annotation, Any]:
    """Solutions on which two or more people decided a first error, grouped for aggregates over their labels."""
    known = own_opinions(project).filter(first_error__isnull=False).exclude(lane__in=HIDDEN_LANES)
    return known.values("solution").annotate(people_count=Count("pk")).filter(people_count__gt=1)
