"""A submission is kept once, whatever happens around it."""

import uuid
from datetime import timedelta

import msgspec
import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.labels.agreement.cube import agreement_of
from annotation.labels.datasets.filters import parse_filters
from annotation.labels.datasets.record_stream import stream_records
from annotation.models import Annotation, AuditEntry, Dispute, Draft, Lease, Membership, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.gold.designation import mark_gold, references
from annotation.work.labelling.adjudication import adjudicate
from annotation.work.labelling.drafts import save_draft
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.revisions import as_submitted, find_latest
from annotation.work.labelling.submission import submit_annotation
from annotation.work.queue.leases import expire_leases, release
from tests.factories import (
    GenerationFactory,
    MachineAnnotatorFactory,
    MembershipFactory,
    QueueItemFactory,
    SolutionFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def item():
    return QueueItemFactory(generation=GenerationFactory())


@pytest.fixture
def annotator(item):
    return MembershipFactory(project=item.project)


def claim(membership):
    return claim_next(by=membership.user, project=membership.project, holding=[]).lease


def all_good(solution, lease=None, **fields):
    path = [
        GivenPosition(
            position=step.position,
            chosen=step.pk,
            ratings=[GivenRating(step=step.pk, state="rated", rating=1)],
            dwell_ms=700,
        )
        for step in solution.steps.all()
    ]
    given = {"submission_id": uuid.uuid4(), "finish_reason": "solution", "path": path} | fields
    return Submission(solution=solution.pk, lease=lease.pk if lease else None, **given)


def submit(membership, submission):
    return submit_annotation(by=membership.user, project=membership.project, submission=submission)


def expire(lease):
    Lease.objects.filter(pk=lease.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert expire_leases() == 1


def places(item):
    item.refresh_from_db()
    return item.state, item.leased, item.done


def test_a_submission_fills_its_place(item, annotator):
    lease = claim(annotator)
    save_draft(by=annotator.user, lease_id=lease.pk, version=0, body={})
    annotation = submit(annotator, all_good(item.solution, lease, total_ms=2100)).annotation
    lease.refresh_from_db()
    assert lease.state == "submitted"
    assert places(item) == ("done", 0, 1)
    assert not Draft.objects.exists()
    assert (annotation.source.kind, annotation.lane, annotation.counted) == ("human", "control", True)
    assert [(p.position, p.chosen_id, p.dwell_ms) for p in annotation.path.all()] == [
        (step.position, step.pk, 700) for step in item.solution.steps.all()
    ]
    assert list(annotation.ratings.values_list("state", "rating", "ordinal")) == [("rated", 1, 0)] * 3
    entry = AuditEntry.objects.get(action="annotation.submit")
    assert (entry.by, entry.target_id, entry.after["first_error"]) == (annotator.user, str(annotation.pk), -1)


def test_a_program_that_plays_an_annotator_says_so(item):
    robot = MembershipFactory(project=item.project, kind="simulated")
    assert submit(robot, all_good(item.solution, claim(robot))).annotation.source.kind == "simulated"


@pytest.mark.parametrize("role", ["annotator", "manager"])
def test_what_comes_with_a_token_is_a_machine_s_label_and_never_gold(item, role):
    member = MembershipFactory(project=item.project, role=role)
    manager = MembershipFactory(project=item.project, role="manager")
    submission = all_good(item.solution, claim(member))
    made = submit_annotation(by=member.user, project=item.project, submission=submission, by_program=True).annotation
    assert (made.source.kind, made.counted) == ("model_judge", False)
    assert places(item) == ("ready", 0, 0)  # a person's label is still wanted
    with pytest.raises(DomainError) as refused:
        mark_gold(by=manager.user, project=item.project, annotation_id=made.pk)
    assert refused.value.code == "not_a_reference"
    assert not list(references(item.project))


def test_a_machine_annotator_labels_as_its_version_and_a_person_does_not(item):
    robot = MachineAnnotatorFactory(membership__project=item.project)
    QueueItem.objects.update(lane="acquisition", route="judge", taker="machine", audited=True)
    judged = submit(robot.membership, all_good(item.solution, claim(robot.membership))).annotation
    assert (judged.source, judged.source.kind) == (robot.source, "model_judge")
    person = MembershipFactory(project=item.project)
    assert submit(person, all_good(item.solution, claim(person))).annotation.source.kind == "human"
    assert agreement_of(item.project).pairs == 0  # kinds are not pooled
    records = list(stream_records(project=item.project, filters=parse_filters({})))
    assert sorted(one.source_kind for one in records[0].annotations) == ["human", "model_judge"]


def test_a_machine_gets_no_item_that_waits_for_people(item):
    item.project.policy = {"training_sources": ["human", "model_judge"]}
    item.project.save()
    robot = MembershipFactory(project=item.project, kind="machine")
    assert claim_next(by=robot.user, project=item.project, holding=[]).reason == "done"


def test_a_machine_revises_no_decision_of_a_person(item):
    reviewer = MembershipFactory(project=item.project, role="reviewer")
    QueueItem.objects.update(wanted=2)
    lease = claim(reviewer)
    submit(reviewer, all_good(item.solution, lease))
    seen = Annotation.objects.get().pk
    decided = adjudicate(
        by=reviewer.user, project=item.project, submission=all_good(item.solution), seen=seen
    ).annotation
    with pytest.raises(Forbidden) as refused:
        adjudicate(
            by=reviewer.user, project=item.project, submission=all_good(item.solution), seen=decided.pk, by_program=True
        )
    assert refused.value.code == "machine_cannot_decide"
    later = submit_annotation(
        by=reviewer.user,
        project=item.project,
        submission=all_good(item.solution, lease, based_on=decided.revision),
        by_program=True,
    ).annotation
    assert (decided.adjudicates, later.adjudicates) == (True, False)


def test_a_retry_is_not_a_second_submission(item, annotator):
    submission = all_good(item.solution, claim(annotator))
    first, again = submit(annotator, submission), submit(annotator, submission)
    assert (first.created, again.created) == (True, False)
    assert again.annotation == first.annotation
    assert places(item) == ("done", 0, 1)


def test_an_id_belongs_to_one_payload_and_one_person(item, annotator):
    QueueItem.objects.update(wanted=2)
    submission = all_good(item.solution, claim(annotator))
    submit(annotator, submission)
    changed = all_good(item.solution, submission_id=submission.submission_id, comment="changed")
    other = MembershipFactory(project=item.project)
    claim(other)
    for membership, again in ((annotator, changed), (other, submission)):
        with pytest.raises(Conflict) as refused:
            submit(membership, again)
        assert refused.value.code == "submission_conflict"


def test_a_revision_says_which_one_it_was_made_upon(item, annotator):
    lease = claim(annotator)
    first = submit(annotator, all_good(item.solution, lease)).annotation
    second = submit(annotator, all_good(item.solution, lease, based_on=1, comment="on second thought")).annotation
    assert [first.revision, second.revision] == [1, 2]
    assert (first.counted, second.counted) == (True, False)
    assert places(item) == ("done", 0, 1)


def test_of_two_tabs_the_second_is_told_of_the_first_and_may_become_the_newest(item, annotator):
    lease = claim(annotator)
    submit(annotator, all_good(item.solution, lease, comment="from the first tab", reference_disputed=True))
    other = all_good(item.solution, lease, comment="from the second tab")
    with pytest.raises(Conflict) as refused:
        submit(annotator, other)
    assert refused.value.code == "revision_conflict"
    told = refused.value.extra
    assert (told["revision"], told["latest"].comment, told["submitted"].comment) == (
        1, "from the first tab", "from the second tab",
    )  # fmt: skip
    assert told["latest"].reference_disputed is True
    assert [place.ratings for place in told["latest"].path] == [place.ratings for place in told["submitted"].path], (
        "both in one shape"
    )
    chosen = submit(annotator, msgspec.structs.replace(other, based_on=1))
    assert (chosen.created, chosen.annotation.revision) == (True, 2)


def test_a_revision_upon_one_that_never_was_is_refused(item, annotator):
    with pytest.raises(DomainError) as refused:
        submit(annotator, all_good(item.solution, claim(annotator), based_on=1))
    assert refused.value.extra == {"field": "based_on"}


def test_a_label_is_read_back_as_it_was_handed_in(item, annotator):
    """Every part of it: revising begins with what was said."""
    lease = claim(annotator)
    type(item.project).objects.update(scheme={"error_types": ["slip"], "ask_own_step": True})
    item.project.refresh_from_db()
    one, two, three = item.solution.steps.all()
    path = [
        GivenPosition(
            position=0, chosen=one.pk, dwell_ms=5, ratings=[GivenRating(step=one.pk, state="unsure", flagged=True)]
        ),
        GivenPosition(
            position=1,
            own_text="2 + 2 = 4",
            ratings=[GivenRating(step=two.pk, state="rated", rating=-1, error_type="slip", comment="sum")],
        ),
        GivenPosition(position=2, ratings=[GivenRating(step=three.pk, state="not_reached")]),
    ]
    given = all_good(item.solution, lease, path=path, finish_reason="found_error", comment="all of it", total_ms=9)
    submit_annotation(by=annotator.user, project=item.project, submission=given)
    latest = find_latest(by=annotator.user, project=item.project, solution_id=item.solution_id)
    said = msgspec.structs.asdict(as_submitted(latest))
    del said["revision"], said["submitted_at"]
    again = Submission(**said, submission_id=given.submission_id, lease=lease.pk)
    assert again == given


def test_only_ones_own_label_is_read_back(item, annotator):
    submit(annotator, all_good(item.solution, claim(annotator)))
    other = MembershipFactory(project=item.project)
    with pytest.raises(Missing):
        find_latest(by=other.user, project=item.project, solution_id=item.solution_id)
    with pytest.raises(Forbidden):
        find_latest(by=MembershipFactory().user, project=item.project, solution_id=item.solution_id)


def test_a_late_submission_counts_while_there_is_a_place(item, annotator):
    lease = claim(annotator)
    expire(lease)
    assert submit(annotator, all_good(item.solution, lease)).annotation.counted
    assert places(item) == ("done", 0, 1)


def test_a_late_submission_is_kept_as_an_extra_where_there_is_none(item, annotator):
    lease = claim(annotator)
    expire(lease)
    other = MembershipFactory(project=item.project)
    other_lease = claim(other)
    late = submit(annotator, all_good(item.solution, lease)).annotation
    assert (late.counted, late.lease) == (False, lease)
    assert places(item) == ("full", 1, 0)
    assert submit(other, all_good(item.solution, other_lease)).annotation.counted
    assert places(item) == ("done", 0, 1)


def test_a_submission_after_a_skip_is_kept(item, annotator):
    lease = claim(annotator)
    release(by=annotator.user, lease_id=lease.pk, reason="oops")
    assert submit(annotator, all_good(item.solution, lease)).annotation.counted


def test_a_submission_counts_when_its_generation_was_replaced_meanwhile(item, annotator):
    lease = claim(annotator)
    item.generation.state = "retired"
    item.generation.save()
    assert submit(annotator, all_good(item.solution, lease)).annotation.counted
    assert places(item) == ("done", 0, 1)


@pytest.mark.parametrize("role", Membership.Role.values)
def test_only_what_was_claimed_is_submitted(item, role):
    with pytest.raises(Forbidden) as refused:
        submit(MembershipFactory(project=item.project, role=role), all_good(item.solution))
    assert refused.value.code == "not_claimed"
    assert places(item) == ("ready", 0, 0)


def test_a_submission_need_not_name_its_lease(item, annotator):
    lease = claim(annotator)
    assert submit(annotator, all_good(item.solution)).annotation.lease == lease
    assert places(item) == ("done", 0, 1)


def test_refusals(item, annotator):
    lease = claim(annotator)
    other_solution = SolutionFactory(project=item.project)
    cases = [
        (MembershipFactory(), all_good(item.solution, lease), Missing, "solution_not_found"),
        (annotator, all_good(SolutionFactory()), Missing, "solution_not_found"),
        (annotator, all_good(other_solution, lease), DomainError, "invalid_submission"),
        (MembershipFactory(project=item.project), all_good(item.solution, lease), Forbidden, "lease_of_another"),
        (annotator, all_good(item.solution, lease, path=[]), DomainError, "invalid_submission"),
    ]
    for membership, submission, kind, code in cases:
        with pytest.raises(kind) as refused:
            submit(membership, submission)
        assert refused.value.code == code
    assert not Annotation.objects.exists()
    assert places(item) == ("full", 1, 0)


def test_a_former_member_cannot_submit(item, annotator):
    submission = all_good(item.solution, claim(annotator))
    Membership.objects.update(active=False)
    with pytest.raises(Forbidden, match="not a member"):
        submit(annotator, submission)


def test_a_disputed_reference_opens_a_dispute(item, annotator):
    annotation = submit(annotator, all_good(item.solution, claim(annotator), reference_disputed=True)).annotation
    dispute = Dispute.objects.get()
    assert (dispute.annotation, dispute.state) == (annotation, "open")
    opened = AuditEntry.objects.get(action="dispute.open", target_id=str(dispute.pk))
    assert (opened.by, opened.after["state"]) == (annotator.user, "open")


def test_a_dispute_goes_along_with_revisions_until_one_withdraws_it(item, annotator):
    lease = claim(annotator)
    for revision, disputed, state in [(0, True, "open"), (1, True, "open"), (2, False, "withdrawn"), (3, True, "open")]:
        given = all_good(item.solution, lease, based_on=revision, reference_disputed=disputed)
        annotation = submit(annotator, given).annotation
        dispute = Dispute.objects.get()
        assert dispute.state == state
        assert (dispute.annotation == annotation) == disputed
    assert AuditEntry.objects.filter(action="dispute.revise").count() == 3


def test_a_revision_does_not_reopen_what_a_reviewer_settled(item, annotator):
    lease = claim(annotator)
    submit(annotator, all_good(item.solution, lease, reference_disputed=True))
    Dispute.objects.update(state="dismissed")
    submit(annotator, all_good(item.solution, lease, based_on=1, reference_disputed=True))
    submit(annotator, all_good(item.solution, lease, based_on=2))
    assert Dispute.objects.get().state == "dismissed"


def test_a_position_that_came_without_completions_takes_no_place_in_a_submission(item, annotator):
    lease = claim(annotator)
    item.solution.steps.filter(position=0).delete()
    with pytest.raises(DomainError, match="Positions must be in order"):
        submit(annotator, all_good(item.solution, lease))
