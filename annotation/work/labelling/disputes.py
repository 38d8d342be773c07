"""Disputes: a submission claims that a reference is wrong, and a later revision confirms or withdraws the claim."""

from typing import Any

from django.contrib.auth.models import User

from annotation.core import audit
from annotation.models import Annotation, Dispute, Problem


def follow_revision(*, by: User, annotation: Annotation, disputed: bool) -> None:
    """Update the person's dispute of this reference to their new revision, within its transaction.

    A first claim opens a dispute. A later revision takes it over, settled or not, or withdraws an open one.
    """
    # The lock of `resolve`, so that a decision and a revision happen one after the other.
    Problem.objects.select_for_update(no_key=True, of=("self",)).get(solutions=annotation.solution_id)
    dispute = Dispute.objects.filter(
        annotation__annotator=annotation.annotator_id, annotation__solution=annotation.solution_id
    ).first()
    if dispute is None and not disputed:
        return
    action, before = "dispute.revise", _audit_values(dispute) if dispute else {}
    if dispute is None:
        action, dispute = "dispute.open", Dispute(project_id=annotation.project_id, annotation=annotation)
    elif disputed:
        dispute.annotation = annotation
        if dispute.state == Dispute.State.WITHDRAWN:
            dispute.state = Dispute.State.OPEN
    elif dispute.state == Dispute.State.OPEN:
        dispute.state = Dispute.State.WITHDRAWN
    dispute.save()
    if before != _audit_values(dispute):
        audit.record(by=by, action=action, target=dispute, before=before, after=_audit_values(dispute))


def _audit_values(dispute: Dispute) -> dict[str, Any]:
    return {"state": dispute.state, "annotation": dispute.annotation_id}
