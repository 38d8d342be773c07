"""People's first answers on hidden gold in use, for statistics and for the staff who decide."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, F, QuerySet
from numpy.typing import NDArray

from annotation.models import HIDDEN_LANES, Annotation, GoldAnswer, Lane, Lease, Membership, Project, StepRating
from annotation.work.annotations import first_annotations
from annotation.work.gold.designation import hidden_gold
from annotation.work.gold.gold_accuracy import Accuracy, Answer, Share, accuracy_of, grouped, share_of, suspects
from prm.vocabulary import RATINGS


@dataclass(frozen=True)
class Worn:
    """The share of annotators who have seen a gold solution, and whether it is too high; `disputed` is the share of
    good annotators who disagree with the reference, None if they do not."""

    seen: Share
    exhausted: bool
    disputed: Share | None

    @property
    def to_review(self) -> bool:
        return self.exhausted or self.disputed is not None


def answers_to(project: Project, *, lanes: Sequence[str] = (Lane.GOLD,), **narrowed: object) -> QuerySet[Annotation]:
    """Annotations that answer gold in these lanes; `narrowed` are lookups of annotations.

    Only first revisions count: later ones may know the reference.
    """
    in_use = {"solution__gold_answer__active": True, "solution__gold_answer__practice": False}
    return first_annotations(project).filter(lane__in=lanes, **in_use, **narrowed)


def read_answers(rows: QuerySet[Annotation], *, latest: int | None = None) -> list[Answer]:
    """Of `answers_to`, or of so many of the latest, the earliest first."""
    values = rows.order_by("-submitted_at", "-pk").values_list(
        "annotator",
        "solution",
        "first_error",
        "solution__gold_answer__annotation__first_error",
        "solution__gold_answer__accepted",
        "item__generation__number",
        "submitted_at",
    )
    return [
        Answer(person, solution, answered, known, frozenset(accepted), generation, at)
        for person, solution, answered, known, accepted, generation, at in reversed(values[:latest])
        if person is not None and known is not None
    ]


def confusion_of(project: Project, membership: Membership) -> NDArray[np.int64]:
    """Counts [3, 3] of steps that both the reference and the person rated: rows the reference's rating, columns theirs,
    in the order of RATINGS (good, neutral, bad)."""
    own = StepRating.objects.filter(annotation__in=answers_to(project, annotator=membership), rating__isnull=False)
    pairs = own.filter(
        step__ratings__annotation=F("annotation__solution__gold_answer__annotation"),
        step__ratings__rating__isnull=False,
    )
    counts = np.zeros((len(RATINGS), len(RATINGS)), dtype=np.int64)
    rows = pairs.values_list("step__ratings__rating", "rating").annotate(n=Count("pk")).order_by()
    for true, answered, n in rows:
        counts[RATINGS.index(true), RATINGS.index(answered)] += n
    return counts


def accuracy_by_person(project: Project) -> dict[int, Accuracy]:
    """Membership id -> how well the person answers hidden gold."""
    tolerance = project.policies.gold.tolerance
    by_person = grouped(read_answers(answers_to(project)), "person")
    return {person: accuracy_of(answers, tolerance=tolerance) for person, answers in by_person.items()}


def accuracy_by_gold(project: Project) -> dict[int, Accuracy]:
    """Solution -> how it is answered, hidden and in screenings."""
    tolerance = project.policies.gold.tolerance
    by_solution = grouped(read_answers(answers_to(project, lanes=HIDDEN_LANES)), "solution")
    return {solution: accuracy_of(answers, tolerance=tolerance) for solution, answers in by_solution.items()}


def wear_of(project: Project) -> dict[int, Worn]:
    """Solution -> how worn and how disputed each hidden gold is."""
    policy = project.policies.gold
    people = Membership.objects.filter(project=project, active=True, role=Membership.Role.ANNOTATOR).count()
    gold = list(hidden_gold(project).values_list("solution", flat=True))
    seen = dict(
        Lease.objects.filter(solution__in=gold, annotator__active=True, annotator__role=Membership.Role.ANNOTATOR)
        .values_list("solution")
        .annotate(n=Count("annotator", distinct=True))
        .order_by()
    )
    disputed = suspects(
        read_answers(answers_to(project, lanes=HIDDEN_LANES)),
        disputed_by=policy.disputed_by,
        tolerance=policy.tolerance,
    )
    worn_by_solution = {}
    for solution in gold:
        share = share_of(seen.get(solution, 0), people)
        exhausted = share.value is not None and share.value >= policy.seen_by
        worn_by_solution[solution] = Worn(share, exhausted, disputed.get(solution))
    return worn_by_solution


def to_review(project: Project) -> QuerySet[GoldAnswer]:
    """Hidden gold that is worn out or suspect."""
    solutions = [solution for solution, wear in wear_of(project).items() if wear.to_review]
    return hidden_gold(project).filter(solution__in=solutions)
