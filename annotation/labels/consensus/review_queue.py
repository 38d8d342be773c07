"""The review queue: disagreements first, then disputed references, then steps in doubt."""

from dataclasses import dataclass

from django.db.models import Case, Q, QuerySet, Value, When

from annotation.core.statements import unnest_ids
from annotation.labels.agreement.contrast import disagreed
from annotation.models import HIDDEN_LANES, IN_DOUBT, Annotation, Dispute, Project, SentBack, Solution, StepRating
from annotation.work.annotations import is_adjudicated, latest_annotations
from annotation.work.gold.designation import is_gold
from prm.vocabulary import MACHINES

REASONS = ("disagreement", "dispute", "doubt")


@dataclass(frozen=True)
class Waiting:
    """The ids of the solutions that wait for a reviewer, by reason. A solution can have several."""

    disagreement: frozenset[int]
    dispute: frozenset[int]
    doubt: frozenset[int]
    sent_back: int  # labels

    def of(self, reason: str) -> frozenset[int]:
        """The solutions with one of REASONS, or with any if it is empty."""
        chosen: frozenset[int] = getattr(self, reason) if reason else self.disagreement | self.dispute | self.doubt
        return chosen

    def in_order(self, reason: str = "") -> list[int]:
        """The solutions `of` a reason in the order of `to_review`."""
        return sorted(self.of(reason), key=lambda pk: (self._urgency(pk), -pk))

    def _urgency(self, solution: int) -> int:
        return 0 if solution in self.disagreement else 1 if solution in self.dispute else 2


def waiting_solutions(project: Project) -> Waiting:
    """The solutions that wait for a reviewer.

    A solution whose label was sent back waits for the annotator first, unless its reference is also disputed.
    """
    disputes = Dispute.objects.filter(project=project, state=Dispute.State.OPEN)
    returned = sent_back(project).values_list("annotation__solution", Value("sent back"))
    rows = returned.union(
        disputes.values_list("annotation__solution", Value("dispute")),
        _in_doubt(project).values_list("solution", Value("doubt")),
        all=True,
    )
    found: dict[str, list[int]] = {"sent back": [], "dispute": [], "doubt": []}
    for solution, reason in rows:
        found[reason].append(solution)
    with_annotator = frozenset(found["sent back"])
    return Waiting(
        disagreement=frozenset(disagreed(project)) - with_annotator,
        dispute=frozenset(found["dispute"]),
        doubt=frozenset(found["doubt"]) - with_annotator,
        sent_back=len(found["sent back"]),
    )


def to_review(project: Project, reason: str = "", *, waiting: Waiting | None = None) -> QuerySet[Solution]:
    """Solutions that wait for a reviewer, in order of `urgency`, each with `differs`, `disputed` and `doubted`.

    A `reason` of REASONS selects those that wait for it; they may have other reasons too. This reads the ids first,
    because the database would compare all labels again for each row, order and count.
    """
    waiting = waiting or waiting_solutions(project)
    return (
        project.solutions.filter(pk__in=unnest_ids(waiting.of(reason)))
        .annotate(
            differs=Q(pk__in=unnest_ids(waiting.disagreement)),
            disputed=Q(pk__in=unnest_ids(waiting.dispute)),
            doubted=Q(pk__in=unnest_ids(waiting.doubt)),
        )
        .annotate(urgency=Case(When(differs=True, then=0), When(disputed=True, then=1), default=2))
        .order_by("urgency", "-pk")
    )


def next_to_review(project: Project, *, after: int, reason: str = "") -> int | None:
    """The solution after another one in the order of `to_review`, or the first; None if no other waits."""
    waiting = waiting_solutions(project).in_order(reason)
    place = waiting.index(after) + 1 if after in waiting else 0
    return next((pk for pk in waiting[place:] + waiting[:place] if pk != after), None)


def review_counts(project: Project, waiting: Waiting | None = None) -> dict[str, int]:
    """The numbers of solutions that wait for each of REASONS and in `all`, and of labels that are `sent_back`."""
    waiting = waiting or waiting_solutions(project)
    counts = {reason: len(waiting.of(reason)) for reason in REASONS}
    return {"all": len(waiting.of("")), **counts, "sent_back": waiting.sent_back}


def sent_back(project: Project) -> QuerySet[SentBack]:
    """The open requests to annotators to revise a label."""
    return SentBack.objects.filter(project=project, state=SentBack.State.OPEN)


def _in_doubt(project: Project) -> QuerySet[Annotation]:
    """Labels of undecided solutions, by people, with a flagged or unsure step.

    A route decides on the solutions of unsure judges.
    """
    doubts = StepRating.objects.filter(IN_DOUBT).values("annotation")
    labels = latest_annotations(project).filter(pk__in=doubts).exclude(lane__in=HIDDEN_LANES)
    labels = labels.exclude(source__kind__in=MACHINES).order_by()
    return labels.filter(~is_adjudicated("solution"), ~is_gold("solution"))
