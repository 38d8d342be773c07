"""How far people agree on where the first error is."""

from dataclasses import dataclass
from itertools import combinations

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count

from annotation.models import Project
from annotation.quality.statistics import latest_annotations


@dataclass(frozen=True)
class Agreement:
    """Shares of the pairs of people that labelled the same solution; None where there is no pair.

    `within_one` also counts neighbouring positions; "no error" has no neighbour.
    """

    solutions: int
    pairs: int
    exact: float | None
    within_one: float | None


def first_error_agreement(project: Project) -> Agreement:
    """Over the solutions on which two or more people, real or simulated, have told a first error."""
    told = (
        latest_annotations(project)
        .filter(first_error__isnull=False)
        .values("solution")
        .annotate(words=ArrayAgg("first_error"), people=Count("pk"))
        .filter(people__gt=1)
        .values_list("words", flat=True)
    )
    return agreement_of(list(told))


def agreement_of(told: list[list[int]]) -> Agreement:
    """`told` has, for each solution, the first errors that people gave; pure."""
    pairs = [pair for words in told for pair in combinations(words, 2)]
    exact = sum(one == other for one, other in pairs)
    near = sum(one == other or (min(one, other) >= 0 and abs(one - other) == 1) for one, other in pairs)
    return Agreement(
        solutions=sum(len(words) > 1 for words in told),
        pairs=len(pairs),
        exact=exact / len(pairs) if pairs else None,
        within_one=near / len(pairs) if pairs else None,
    )
