"""The labels of a project that can agree: people's own opinions, and machines' labels if they are compared too."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from django.db.models import BigIntegerField, Case, Count, F, Func, QuerySet, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce
from numpy.typing import NDArray

from annotation.core.packed_columns import read_columns
from annotation.core.statements import unnest_ids
from annotation.labels.agreement.measures import Integers, Values
from annotation.models import HIDDEN_LANES, Annotation, Project, Solution, Step, StepRating
from annotation.work.annotations import own_opinions
from prm.vocabulary import MACHINES, RATINGS

Between = Literal["people", "everyone", "machines"]
NO_GENERATION = -1


@dataclass(frozen=True)
class SharedLabels:
    """Labels with a first error on solutions that two or more raters labelled, one of each rater.

    `solution` indexes `solutions`, the ids. A rater is a membership's id, or minus the id of a source without a member.
    `at` are seconds since 1970, and `generation` is NO_GENERATION for none.
    """

    solutions: Integers
    solution: Integers
    label: Integers
    rater: Integers
    machine: NDArray[np.bool_]
    first_error: Integers
    at: Integers
    generation: Integers

    def of_latest(self, column: Integers) -> Integers:
        """The value of a column in the latest label of each solution."""
        order = np.lexsort((self.label, self.at, self.solution))
        ends = np.cumsum(np.bincount(self.solution, minlength=len(self.solutions)))
        latest: Integers = column[order][ends - 1]
        return latest

    def on(self, chosen: NDArray[np.bool_]) -> "SharedLabels":
        """The labels of some of the solutions."""
        of = chosen[self.solution]
        return SharedLabels(
            self.solutions[chosen],
            (np.cumsum(chosen) - 1)[self.solution[of]],
            self.label[of],
            self.rater[of],
            self.machine[of],
            self.first_error[of],
            self.at[of],
            self.generation[of],
        )


def shared_labels(project: Project, between: Between) -> SharedLabels:
    """The shared labels of people, of everyone (people and machines), or of solutions where machines meet people.

    A person's latest own opinion counts, and the latest label of each machine, both outside the lanes that measure
    people.
    """
    rows = _read(own_opinions(project))
    if between != "people":
        rows = np.hstack([rows, _read(_latest_of_machines(project))])
    label, of, rater, machine, first_error, at, generation = rows[:, np.lexsort((rows[0], rows[2], rows[1]))]
    last = np.append((of[1:] != of[:-1]) | (rater[1:] != rater[:-1]), True)[: len(of)]  # of each rater and solution
    solutions, solution = np.unique(of[last], return_inverse=True)
    labels = SharedLabels(
        solutions, solution, label[last], rater[last], machine[last] > 0, first_error[last], at[last], generation[last]
    )
    machines = np.bincount(solution, weights=labels.machine, minlength=len(solutions))
    everyone = np.bincount(solution, minlength=len(solutions))
    return labels.on((machines > 0) & (machines < everyone) if between == "machines" else everyone > 1)


def first_errors_of(labels: SharedLabels) -> Values:
    """The first errors. A unit is a solution."""
    meanings, category = np.unique(labels.first_error, return_inverse=True)
    return Values(labels.solution, labels.rater, category, np.arange(len(labels.solutions)), meanings.tolist())


def step_ratings_of(labels: SharedLabels) -> Values:
    """The ratings of steps, from bad to good. A unit is a completion that somebody rated."""
    rated = StepRating.objects.filter(state="rated", annotation__in=unnest_ids(labels.label.tolist()))
    label, step, rating = read_columns(rated.order_by(), "annotation_id", "step_id", "rating")
    order = np.argsort(labels.label)
    of = order[np.searchsorted(labels.label, label, sorter=order)]
    steps, unit = np.unique(step, return_inverse=True)
    solution = np.zeros(len(steps), dtype=np.int64)
    solution[unit] = labels.solution[of]
    return Values(unit, labels.rater[of], rating - min(RATINGS), solution, sorted(RATINGS))


def lengths_of(labels: SharedLabels) -> Integers:
    """The number of positions of each solution."""
    places = Step.objects.filter(solution__in=unnest_ids(labels.solutions.tolist())).order_by().values_list("solution")
    lengths = dict(places.annotate(n=Count("position", distinct=True)))
    return np.array([lengths.get(pk, 0) for pk in labels.solutions.tolist()], dtype=np.int64)


def texts_of(labels: SharedLabels, field: str) -> list[str]:
    """A text of each solution, by its lookup."""
    solutions = labels.solutions.tolist()
    texts = dict(Solution.objects.filter(pk__in=unnest_ids(solutions)).order_by().values_list("pk", field))
    return [texts[pk] for pk in solutions]


def _latest_of_machines(project: Project) -> QuerySet[Annotation]:
    labels = Annotation.objects.filter(project=project, source__kind__in=MACHINES)
    latest = labels.order_by("solution", "source", "annotator", "-revision").distinct("solution", "source", "annotator")
    return Annotation.objects.filter(pk__in=latest.values("pk"))


def _read(labels: QuerySet[Annotation]) -> NDArray[np.int64]:
    """The columns of SharedLabels from `label` on, with the solution's id as the second."""
    return read_columns(
        labels.filter(first_error__isnull=False).exclude(lane__in=HIDDEN_LANES).order_by(),
        "pk",
        "solution_id",
        Coalesce(F("annotator_id"), -F("source_id")),
        Case(When(source__kind__in=MACHINES, then=Value(1)), default=Value(0)),
        "first_error",
        Func(F("submitted_at"), template="extract(epoch FROM %(expressions)s)"),
        Coalesce("item__generation__number", Cast(KT("stated__generation"), BigIntegerField()), Value(NO_GENERATION)),
    )
