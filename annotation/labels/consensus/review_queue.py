"""The review queue: disagreements first, then disputed references, then steps in doubt."""

from django.db.models import Case, Count, Exists, OuterRef, Q, QuerySet, When

from annotation.labels.agreement.contrast import disagreements
from annotation.models import HIDDEN_LANES, IN_DOUBT, Annotation, Dispute, Project, SentBack, Solution, StepRating
from annotation.work.annotations import is_adjudicated, latest_annotations
from annotation.work.gold.designation import is_gold
from prm.vocabulary import MACHINES

REASONS = ("disagreement", "dispute", "doubt")


def to_review(project: Project, reason: str = "") -> QuerySet[Solution]:
    """Solutions that wait for a reviewer, in order of `urgency`, each with `differs`, `disputed` and `doubted`.

    A `reason` of REASONS selects those that wait for it; they may have other reasons too. A solution whose label was
    sent back waits for the annotator first, unless its reference is also disputed.
    """
    waiting = Exists(sent_back(project).filter(annotation__solution=OuterRef("pk")))
    open_disputes = Dispute.objects.filter(annotation__solution=OuterRef("pk"), state=Dispute.State.OPEN)
    rows = project.solutions.annotate(
        differs=Q(pk__in=disagreements(project).values("pk")) & ~waiting,
        disputed=Exists(open_disputes),
        doubted=Q(pk__in=_in_doubt(project).values("solution")) & ~is_adjudicated() & ~is_gold() & ~waiting,
    ).annotate(urgency=Case(When(differs=True, then=0), When(disputed=True, then=1), default=2))
    wanted = {"disagreement": Q(differs=True), "dispute": Q(disputed=True), "doubt": Q(doubted=True)}
    anything = Q(differs=True) | Q(disputed=True) | Q(doubted=True)
    return rows.filter(wanted.get(reason, anything)).order_by("urgency", "-pk")


def next_to_review(project: Project, *, after: int, reason: str = "") -> int | None:
    """The solution after another one in `to_review`, or the first; None if no other waits."""
    waiting = list(to_review(project, reason).values_list("pk", flat=True))
    place = waiting.index(after) + 1 if after in waiting else 0
    return next((pk for pk in waiting[place:] + waiting[:place] if pk != after), None)


def review_counts(project: Project) -> dict[str, int]:
    """The numbers of solutions that wait for each of REASONS and in `all`, and of labels that are `sent_back`."""
    counts = to_review(project).aggregate(
        all=Count("pk"),
        disagreement=Count("pk", filter=Q(differs=True)),
        dispute=Count("pk", filter=Q(disputed=True)),
        doubt=Count("pk", filter=Q(doubted=True)),
    )
    return counts | {"sent_back": sent_back(project).count()}


def sent_back(project: Project) -> QuerySet[SentBack]:
    """The open requests to annotators to revise a label."""
    return SentBack.objects.filter(project=project, state=SentBack.State.OPEN)


def _in_doubt(project: Project) -> QuerySet[Annotation]:
    """Labels by people with a flagged or unsure step. A route decides on the solutions of unsure judges."""
    doubts = StepRating.objects.filter(IN_DOUBT).values("annotation")
    labels = latest_annotations(project).filter(pk__in=doubts).exclude(lane__in=HIDDEN_LANES)
    return labels.exclude(source__kind__in=MACHINES)
