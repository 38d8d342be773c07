"""Makes solutions with a known first error gold, hidden or for practice, and retires them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Case, Exists, IntegerField, Max, OuterRef, Q, QuerySet, Value, When
from django.db.models.functions import Coalesce

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import STAFF, require_role
from annotation.core.reading import find_row
from annotation.models import HIDDEN_LANES, Annotation, GoldAnswer, PracticeAnswer, Project
from annotation.work.queue.items import leave_queue
from prm.messages import Message
from prm.vocabulary import PEOPLE

MOST_AT_ONCE = 1000

# In order of rank. Labels by machines and simulated annotators are never references.
KINDS = {
    "adjudicated": Q(adjudicates=True, source__kind__in=PEOPLE),
    "staff": Q(annotator__role__in=STAFF, source__kind="human"),
    "human": Q(annotator__user__isnull=True, source__kind="human"),
    "consensus": Q(annotator__isnull=True, source__kind="consensus"),
}
# Lookups of rows, such as labels and leases, whose solution is hidden gold.
ON_HIDDEN_GOLD = {"solution__gold_answer__active": True, "solution__gold_answer__practice": False}


@dataclass(frozen=True)
class Reference:
    """A solution's reference first error and the annotation that states it; `kind` is a key of KINDS."""

    solution: int
    annotation: int
    first_error: int
    kind: str


def active_gold(project: Project) -> QuerySet[GoldAnswer]:
    """The project's gold, hidden or for practice."""
    return GoldAnswer.objects.filter(project=project, active=True)


def hidden_gold(project: Project) -> QuerySet[GoldAnswer]:
    """The gold that measures annotators."""
    return active_gold(project).filter(practice=False)


def practice_gold(project: Project) -> QuerySet[GoldAnswer]:
    """The gold that people practise on, in the order of practice."""
    return active_gold(project).filter(practice=True).order_by("pk")


def is_gold(solution: str = "pk") -> Exists:
    """Whether a solution is gold now, for querysets of solutions, or of rows whose field is the `solution`."""
    return Exists(GoldAnswer.objects.filter(solution=OuterRef(solution), active=True))


def is_practised(solution: str = "pk") -> Exists:
    """Whether practice has shown somebody the solution's answer; it is then never queued again."""
    return Exists(PracticeAnswer.objects.filter(gold__solution=OuterRef(solution)))


def references(project: Project, *, kinds: Collection[str] = tuple(KINDS), **narrowed: object) -> Iterator[Reference]:
    """One reference for each solution that has one and is not gold yet, in order of solution.

    An adjudication outranks staff, then an imported annotator, then an imported consensus. If labels of the highest
    rank disagree, the solution has no reference. Practised solutions are excluded. `narrowed` are annotation lookups.
    """
    rows = (
        _eligible(project)
        .filter(**narrowed)
        .exclude(is_gold("solution"))
        .exclude(is_practised("solution"))
        .order_by("solution", "rank", "-pk")
        .values_list("solution", "rank", "pk", "first_error")
    )
    names = {rank: kind for rank, kind in enumerate(KINDS) if kind in kinds}
    for solution, labels in groupby(rows.iterator(chunk_size=2000), key=lambda row: row[0]):
        ranked = [(rank, pk, first_error) for _, rank, pk, first_error in labels if rank in names]
        if ranked and len({first_error for rank, _, first_error in ranked if rank == ranked[0][0]}) == 1:
            rank, annotation, first_error = ranked[0]
            yield Reference(solution, annotation, first_error, names[rank])


@transaction.atomic
def mark_gold(
    *,
    by: User,
    project: Project,
    annotation_id: int,
    accepted: Iterable[int] = (),
    practice: bool = False,
    explanation: str = "",
) -> GoldAnswer:
    """Make a solution gold, with this annotation as its reference, or change a gold solution's reference or use.

    `accepted` are other first errors that count as right: positions, -1 for none. The solution leaves the ordinary
    queue and never trains or evaluates a model. With `practice` every member sees it, with its `explanation`, and
    answers from the time when it was hidden no longer count. Raises Forbidden, Missing (`annotation_not_found`),
    DomainError (`not_a_reference`, `invalid_accepted`), Conflict (`practised`: a practised solution cannot be hidden).
    """
    require_role(by, project, *STAFF)
    labels = Annotation.objects.filter(project=project, pk=annotation_id).select_related("solution")
    otherwise = Message("annotation_not_found", annotation_id=annotation_id, name=project.name)
    annotation = find_row(labels, otherwise)
    if not _eligible(project).filter(pk=annotation.pk).exists():
        raise DomainError(Message("not_a_reference"))
    alternatives = _check_accepted(annotation, accepted)
    # The lock of an answer in practice, which then either counts here or is refused.
    GoldAnswer.objects.select_for_update(no_key=True).filter(solution=annotation.solution_id).first()
    if not practice and PracticeAnswer.objects.filter(gold__solution=annotation.solution_id).exists():
        raise Conflict(Message("gold_practised"), code="practised")
    return _mark(by, project, [annotation], alternatives, practice=practice, explanation=explanation.strip())[0]


@transaction.atomic
def mark_references(*, by: User, project: Project, chosen: Collection[Reference], practice: bool = False) -> int:
    """Make the solutions of these references hidden gold, or gold for `practice`; returns how many became gold.

    Raises Forbidden, DomainError (`too_many`: more than MOST_AT_ONCE).
    """
    require_role(by, project, *STAFF)
    if len(chosen) > MOST_AT_ONCE:
        raise DomainError(Message("too_many_gold", most_at_once=f"{MOST_AT_ONCE:,}"), code="too_many")
    annotations = Annotation.objects.filter(pk__in=[reference.annotation for reference in chosen])
    fresh = annotations.exclude(solution__in=active_gold(project).values("solution")).order_by("solution")
    return len(_mark(by, project, fresh, [], practice=practice))


@transaction.atomic
def retire_gold(*, by: User, gold: GoldAnswer, reason: str = "") -> GoldAnswer:
    """Make a gold solution an ordinary one again; its answers stay stored and no longer count.

    Raises Forbidden, Conflict (`already_retired`).
    """
    require_role(by, gold.project, *STAFF)
    gold = GoldAnswer.objects.select_for_update(no_key=True, of=("self",)).select_related("project").get(pk=gold.pk)
    if not gold.active:
        raise Conflict(Message("already_retired"))
    gold.active = False
    gold.save(update_fields=["active"])
    leave_queue([gold.solution_id])  # closes its hidden items
    audit.record(
        by=by, action="gold.retire", target=gold, before={"active": True}, after={"active": False, "reason": reason}
    )
    return gold


def _mark(
    by: User,
    project: Project,
    annotations: Iterable[Annotation],
    accepted: list[int],
    *,
    practice: bool,
    explanation: str = "",
) -> list[GoldAnswer]:
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)  # two managers may mark one solution
    marked = []
    for annotation in annotations:
        gold = GoldAnswer.objects.select_related("annotation").filter(solution=annotation.solution_id).first()
        before = _audit_values(gold) if gold else {}
        gold = gold or GoldAnswer(project=project, solution_id=annotation.solution_id)
        gold.annotation, gold.accepted, gold.active, gold.by = annotation, accepted, True, by
        gold.practice, gold.explanation = practice, explanation
        gold.save()
        audit.record(by=by, action="gold.mark", target=gold, before=before, after=_audit_values(gold))
        marked.append(gold)
    leave_queue([gold.solution_id for gold in marked])
    return marked


def _eligible(project: Project) -> QuerySet[Any]:
    """The annotations that may be a reference, with their `rank`: the latest revision by each labeller."""
    later = Annotation.objects.annotate(labeller=Coalesce("annotator", 0)).filter(
        solution=OuterRef("solution"),
        source=OuterRef("source"),
        labeller=Coalesce(OuterRef("annotator"), 0),
        revision__gt=OuterRef("revision"),
    )
    ranks = [When(labels, then=Value(rank)) for rank, labels in enumerate(KINDS.values())]
    return (
        Annotation.objects.filter(project=project, first_error__isnull=False)
        .exclude(lane__in=HIDDEN_LANES)
        .annotate(rank=Case(*ranks, output_field=IntegerField()))
        .filter(rank__isnull=False)
        .exclude(Exists(later))
    )


def _check_accepted(annotation: Annotation, accepted: Iterable[int]) -> list[int]:
    """The accepted first errors in order, without the reference. Raises DomainError (`invalid_accepted`)."""
    last = annotation.solution.steps.aggregate(last=Max("position"))["last"]
    alternatives = sorted({*accepted} - {annotation.first_error})
    if alternatives and not -1 <= alternatives[0] <= alternatives[-1] <= last:
        raise DomainError(Message("invalid_accepted", steps=last + 1, last=last), {"field": "accepted"})
    return alternatives


def _audit_values(gold: GoldAnswer) -> dict[str, object]:
    return {
        "solution": gold.solution_id,
        "annotation": gold.annotation_id,
        "first_error": gold.annotation.first_error,
        "accepted": gold.accepted,
        "active": gold.active,
        "practice": gold.practice,
        "explanation": gold.explanation,
    }
