"""Resolves disputes: a reviewer decides on a claim that a reference is wrong."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError
from annotation.core.membership.access import STAFF, require_role
from annotation.files.answer_checks import regrade
from annotation.models import Dispute, Membership, Problem
from prm.messages import Message


@transaction.atomic
def resolve(*, by: User, dispute: Dispute, upheld: bool, resolution: str, reference: str = "") -> Dispute:
    """Settle a dispute, and all open ones on the same problem, with a reason.

    If the dispute is upheld, `reference` replaces the wrong answer and the problem's solutions are graded again at
    once. Raises Forbidden, DomainError (`resolution_needed`; `reference_stands`: dismissed, but with another
    reference), Conflict (`dispute_settled`).
    """
    membership = require_role(by, dispute.project, *STAFF)
    if not resolution.strip():
        raise DomainError(Message("resolution_needed"), {"field": "resolution"})
    if reference.strip() and not upheld:
        message = Message("reference_right_with_answer")
        raise DomainError(message, {"field": "reference"}, code="reference_stands")
    problem = Problem.objects.select_for_update(no_key=True, of=("self",)).get(solutions__annotations__dispute=dispute)
    open_ones = list(of_problem(problem).filter(state=Dispute.State.OPEN).order_by("pk"))
    if dispute not in open_ones:
        raise Conflict(Message("dispute_settled"))
    if reference.strip():
        _correct(problem, reference.strip(), by=by)
    for open_dispute in open_ones:
        _settle(open_dispute, upheld, resolution, membership)
    return next(open_dispute for open_dispute in open_ones if open_dispute == dispute)


def of_problem(problem: Problem) -> QuerySet[Dispute]:
    """Every dispute about the problem's reference, settled or not."""
    return Dispute.objects.filter(annotation__solution__problem=problem)


def _settle(dispute: Dispute, upheld: bool, resolution: str, by: Membership) -> None:
    dispute.state = Dispute.State.UPHELD if upheld else Dispute.State.DISMISSED
    dispute.resolution = resolution
    dispute.resolved_by = by if by.pk else None
    dispute.resolved_at = timezone.now()
    dispute.save(update_fields=["state", "resolution", "resolved_by", "resolved_at"])
    audit.record(
        by=by.user,
        action="dispute.resolve",
        target=dispute,
        before={"state": Dispute.State.OPEN},
        after={"state": dispute.state, "resolution": resolution},
    )


def _correct(problem: Problem, reference: str, *, by: User) -> None:
    before, problem.reference_answer = problem.reference_answer, reference
    problem.save(update_fields=["reference_answer"])
    audit.record(
        by=by,
        action="problem.correct_reference",
        target=problem,
        before={"reference_answer": before},
        after={"reference_answer": reference},
    )
    regrade(problem, by=by)
