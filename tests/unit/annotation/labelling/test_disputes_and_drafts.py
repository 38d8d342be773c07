import pytest
from django.utils import timezone

from annotation.errors import Conflict, DomainError, Forbidden
from annotation.labelling.disputes import resolve
from annotation.labelling.drafts import LARGEST, save_draft
from annotation.models import AuditEntry, Dispute, Lease, Membership
from annotation.queue.claiming import claim_next
from tests.factories import AnnotationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def dispute():
    annotation = AnnotationFactory()
    return Dispute.objects.create(project=annotation.project, annotation=annotation)


def test_a_reviewer_settles_a_dispute_once(dispute):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER)
    settled = resolve(by=reviewer.user, dispute=dispute, upheld=True, resolution="The key says 15; it is 14.")
    assert (settled.state, settled.resolved_by) == ("upheld", reviewer)
    assert AuditEntry.objects.get(action="dispute.resolve").before == {"state": "open"}
    with pytest.raises(Conflict):
        resolve(by=reviewer.user, dispute=dispute, upheld=False, resolution="No.")


def test_only_reviewers_settle_and_they_say_why(dispute):
    annotator = MembershipFactory(project=dispute.project)
    with pytest.raises(Forbidden):
        resolve(by=annotator.user, dispute=dispute, upheld=True, resolution="Mine is right.")
    manager = MembershipFactory(project=dispute.project, role=Membership.Role.MANAGER)
    with pytest.raises(DomainError) as refused:
        resolve(by=manager.user, dispute=dispute, upheld=True, resolution=" ")
    assert refused.value.code == "resolution_needed"


@pytest.fixture
def lease():
    item = QueueItemFactory()
    return claim_next(by=MembershipFactory(project=item.project).user, project=item.project, holding=[]).lease


def save(lease, version, body):
    return save_draft(by=lease.annotator.user, lease_id=lease.pk, version=version, body=body)


def test_versions_grow_and_both_sides_of_a_conflict_are_kept(lease):
    assert save(lease, 0, {"a": 1}).version == 1
    assert save(lease, 1, {"a": 2}).version == 2
    with pytest.raises(Conflict) as refused:
        save(lease, 1, {"b": 1})
    assert refused.value.extra == {"version": 2, "body": {"a": 2}}
    assert save(lease, 1, {"a": 2}).version == 2, "a retry whose answer was lost"


@pytest.mark.parametrize(("state", "taken"), [("expired", True), ("submitted", False), ("released", False)])
def test_an_expired_lease_still_takes_drafts(lease, state, taken):
    Lease.objects.update(state=state, ended_at=timezone.now())
    if taken:
        assert save(lease, 0, {}).version == 1
    else:
        with pytest.raises(Conflict) as refused:
            save(lease, 0, {})
        assert refused.value.code == "lease_ended"


def test_a_draft_has_a_limit(lease):
    with pytest.raises(DomainError, match="1,000,000"):
        save(lease, 0, {"text": "x" * LARGEST})
