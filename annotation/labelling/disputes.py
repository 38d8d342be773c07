"""Claims that a reference is wrong, opened by a submission and settled by a reviewer."""

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone

from annotation import audit
from annotation.errors import Conflict, DomainError
from annotation.membership.access import require_role
from annotation.models import Dispute, Membership


@transaction.atomic
def resolve(*, by: User, dispute: Dispute, upheld: bool, resolution: str) -> Dispute:
    """Settle a dispute, with the reason. Raises Forbidden, DomainError (`resolution_needed`),
    Conflict (`dispute_settled`)."""
    membership = require_role(by, dispute.project, Membership.Role.REVIEWER, Membership.Role.MANAGER)
    if not resolution.strip():
        raise DomainError("resolution_needed", "Say why you decide so.", {"field": "resolution"})
    dispute = Dispute.objects.select_for_update(no_key=True).get(pk=dispute.pk)
    if dispute.state != Dispute.State.OPEN:
        raise Conflict("dispute_settled", f"This dispute was {dispute.state} before.")
    dispute.state = Dispute.State.UPHELD if upheld else Dispute.State.DISMISSED
    dispute.resolution = resolution
    dispute.resolved_by = membership if membership.pk else None
    dispute.resolved_at = timezone.now()
    dispute.save(update_fields=["state", "resolution", "resolved_by", "resolved_at"])
    audit.record(
        by=by,
        action="dispute.resolve",
        target=dispute,
        project=dispute.project,
        before={"state": Dispute.State.OPEN},
        after={"state": dispute.state, "resolution": resolution},
    )
    return dispute
