import pytest
from django.utils import timezone
from rest_framework.test import APIClient

from annotation.errors import Conflict, DomainError, Forbidden
from annotation.labelling.disputes import resolve
from annotation.labelling.drafts import LARGEST, save_draft
from annotation.models import AuditEntry, Dispute, Lease, Membership, Solution
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


def test_a_right_answer_takes_the_place_of_the_wrong_one_and_settles_what_others_say_of_it(dispute):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER).user
    problem = dispute.annotation.solution.problem
    other = AnnotationFactory(project=dispute.project, solution__problem=problem)
    also = Dispute.objects.create(project=dispute.project, annotation=other)
    Solution.objects.filter(pk=other.solution_id).update(final_answer_correct=True, outcome_source="grader")
    elsewhere = Dispute.objects.create(project=dispute.project, annotation=AnnotationFactory(project=dispute.project))
    with pytest.raises(DomainError) as refused:
        resolve(by=reviewer, dispute=dispute, upheld=False, resolution="It is right.", reference="14")
    assert refused.value.code == "reference_stands"
    resolve(by=reviewer, dispute=dispute, upheld=True, resolution="The key is wrong.", reference=" 14 ")
    problem.refresh_from_db()
    assert problem.reference_answer == "14"
    told = AuditEntry.objects.get(action="problem.correct_reference")
    assert (told.before, told.after) == (
        {"reference_answer": "4"},
        {"reference_answer": "14", "outcomes_forgotten": 1},
    )
    other.solution.refresh_from_db()
    assert (other.solution.final_answer_correct, other.solution.outcome_source) == (None, "")
    states = dict(Dispute.objects.values_list("pk", "state"))
    assert states == {dispute.pk: "upheld", also.pk: "upheld", elsewhere.pk: "open"}


def test_programs_list_and_settle_disputes(dispute):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER)
    client = APIClient()
    client.force_authenticate(reviewer.user)
    (row,) = client.get(f"/api/v1/projects/{dispute.project.slug}/disputes/?state=open").json()["results"]
    assert (row["id"], row["reference_answer"], row["state"]) == (dispute.pk, "4", "open")
    body = {"upheld": True, "resolution": "It is 5.", "reference": "5"}
    settled = client.post(f"/api/v1/disputes/{dispute.pk}/resolve/", body, format="json")
    assert (settled.status_code, settled.json()["reference_answer"]) == (200, "5")
    assert client.post(f"/api/v1/disputes/{dispute.pk}/resolve/", body, format="json").status_code == 409
    client.force_authenticate(MembershipFactory().user)
    assert client.post(f"/api/v1/disputes/{dispute.pk}/resolve/", body, format="json").status_code == 404


@pytest.fixture
def lease():
    item = QueueItemFactory()
    return claim_next(by=MembershipFactory(project=item.project).user, project=item.project, holding=[]).lease


def save(lease, version, body, **given):
    return save_draft(by=lease.annotator.user, lease_id=lease.pk, version=version, body=body, **given)


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


def test_a_submitted_lease_takes_drafts_of_a_revision_of_the_latest(lease):
    AnnotationFactory(
        project=lease.item.project, solution=lease.solution, annotator=lease.annotator, lease=lease, revision=2
    )
    Lease.objects.update(state="submitted")
    with pytest.raises(Conflict) as refused:
        save(lease, 0, {}, based_on=1)
    assert refused.value.code == "lease_ended"
    assert save(lease, 0, {}, based_on=2).version == 1


def test_a_draft_has_a_limit(lease):
    with pytest.raises(DomainError, match="1,000,000"):
        save(lease, 0, {"text": "x" * LARGEST})
