"""People's first answers to hidden gold, for statistics and for the staff who review gold and annotators."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.db.models import Count, F, QuerySet
from numpy.typing import NDArray

from annotation.models import HIDDEN_LANES, Annotation, GoldAnswer, Lane, Lease, Membership, Project, StepRating
from annotation.work.annotations import first_annotations
from annotation.work.gold.designation import ON_HIDDEN_GOLD, hidden_gold
from annotation.work.gold.gold_accuracy import Accuracy, Answer, Share, accuracy_of, grouped, share_of, suspects
from prm.vocabulary import RATINGS


@dataclass(frozen=True)
class Wear:
    """The share of annotators who have seen a gold solution, and whether it is too high; `disputed` is the share of
    good annotators who disagree with the reference, None if the reference is not suspect."""

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
    return first_annotations(project).filter(lane__in=lanes, **ON_HIDDEN_GOLD, **narrowed)


def read_answers(rows: QuerySet[Annotation], *, latest: int | None = None) -> list[Answer]:
    """The answers in rows of `answers_to`, oldest first; with `latest`, only that many of the latest."""
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
    """Counts [3, 3] of the steps that both the reference and the person rated.

    Rows are the reference's rating, columns the person's, in the order of RATINGS (good, neutral, bad).
    """
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
    """Each person's accuracy on hidden gold, by membership id."""
    tolerance = project.policies.gold.tolerance
    by_person = grouped(read_answers(answers_to(project)), "person")
    return {person: accuracy_of(answers, tolerance=tolerance) for person, answers in by_person.items()}


def accuracy_by_gold(project: Project) -> dict[int, Accuracy]:
    """The accuracy of the answers to each gold solution, hidden and in screening, by solution id."""
    tolerance = project.policies.gold.tolerance
    by_solution = grouped(read_answers(answers_to(project, lanes=HIDDEN_LANES)), "solution")
    return {solution: accuracy_of(answers, tolerance=tolerance) for solution, answers in by_solution.items()}


def wear_of(project: Project) -> dict[int, Wear]:
    """The wear of each hidden gold solution, by solution id."""
    policy = project.policies.gold
    annotators = Membership.objects.filter(project=project, active=True, role=Membership.Role.ANNOTATOR)
    people = annotators.exclude(kind=Membership.Kind.MACHINE).count()
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
    wear_by_solution = {}
    for solution in gold:
        share = share_of(seen.get(solution, 0), people)
        exhausted = share.value is not None and share.value >= policy.seen_by
        wear_by_solution[solution] = Wear(share, exhausted, disputed.get(solution))
    return wear_by_solution


def to_review(project: Project) -> QuerySet[GoldAnswer]:
    """Hidden gold that is worn out or suspect."""
    solutions = [solution for solution, wear in wear_of(project).items() if wear.to_review]
    return hidden_gold(project).filter(solution__in=solutions)
