import pytest
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.files import answer_checks
from annotation.labels.consensus.dispute_decision import resolve
from annotation.models import AnswerCheck, AuditEntry, Dispute, Lease, Membership, Solution
from annotation.work.claiming import claim_next
from annotation.work.labelling.drafts import LARGEST, save_draft
from tests.api_client import api_of
from tests.factories import AnnotationFactory, MembershipFactory, QueueItemFactory, SolutionFactory

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
        {"reference_answer": "14"},
    )
    states = dict(Dispute.objects.values_list("pk", "state"))
    assert states == {dispute.pk: "upheld", also.pk: "upheld", elsewhere.pk: "open"}


def test_a_right_answer_grades_the_solutions_of_the_problem_at_once(dispute):
    """Every outcome by the grader was wiped, and stayed unknown until somebody started a check."""
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER).user
    problem = dispute.annotation.solution.problem

    def outcome(answer, correct, source):
        return SolutionFactory(
            project=dispute.project, problem=problem, final_answer=answer, final_answer_correct=correct,
            outcome_source=source,
        )  # fmt: skip

    wronged = outcome("7", False, "grader")
    flattered = outcome("4", True, "grader")
    algebra = outcome("\\frac{14}{2}", None, "")
    tested = outcome("7", False, "tests")
    resolve(by=reviewer, dispute=dispute, upheld=True, resolution="The key is wrong.", reference="7")
    rows = Solution.objects.in_bulk()
    found = {
        name: (rows[one.pk].final_answer_correct, rows[one.pk].outcome_source)
        for name, one in {
            "wronged": wronged, "flattered": flattered, "algebra": algebra, "tested": tested,
        }.items()
    }  # fmt: skip
    assert found == {
        "wronged": (True, "grader"),
        "flattered": (False, "grader"),
        "algebra": (True, "grader"),
        "tested": (False, "tests"),
    }
    told = AuditEntry.objects.get(action="outcomes.grade")
    assert told.before[str(wronged.pk)] == {"correct": False, "source": "grader"}
    assert told.after[str(wronged.pk)] == {"correct": True, "source": "grader"}


def test_an_outcome_by_the_wrong_reference_goes_where_the_right_one_cannot_be_compared(dispute, monkeypatch):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER).user
    solution = dispute.annotation.solution
    Solution.objects.filter(pk=solution.pk).update(final_answer_correct=True, outcome_source="grader")
    monkeypatch.setattr(answer_checks, "grade_answers", lambda answers, **_: [None] * len(answers))
    resolve(by=reviewer, dispute=dispute, upheld=True, resolution="The key is wrong.", reference="7")
    solution.refresh_from_db()
    assert (solution.final_answer_correct, solution.outcome_source) == (None, "")


def test_a_check_that_read_the_wrong_reference_leaves_the_right_outcome(dispute, monkeypatch):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER).user
    problem = dispute.annotation.solution.problem
    solution = SolutionFactory(project=dispute.project, problem=problem, final_answer="7")
    check = AnswerCheck.objects.create(project=dispute.project, total=2)
    grade = answer_checks.grade_answers

    def settled_meanwhile(answers, **limits):
        monkeypatch.setattr(answer_checks, "grade_answers", grade)
        verdicts = grade(answers, **limits)
        resolve(by=reviewer, dispute=dispute, upheld=True, resolution="The key is wrong.", reference="7")
        return verdicts

    monkeypatch.setattr(answer_checks, "grade_answers", settled_meanwhile)
    answer_checks.run_answer_check(check.pk)
    solution.refresh_from_db()
    assert (solution.final_answer_correct, solution.outcome_source) == (True, "grader")


def test_programs_list_and_settle_disputes(dispute):
    reviewer = MembershipFactory(project=dispute.project, role=Membership.Role.REVIEWER)
    client = api_of(reviewer.user)
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
