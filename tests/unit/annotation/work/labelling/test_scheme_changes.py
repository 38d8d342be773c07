"""Work that was begun under a label scheme can be handed in after a manager has changed it."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.core.errors import DomainError
from annotation.core.membership.projects import change_project
from annotation.models import Lease, Project, StepRating
from annotation.work.claiming import claim_next
from annotation.work.labelling.adjudication import adjudicate
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.submission import submit_annotation
from annotation.work.practice.answering import answer_practice
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.unit.annotation.work.queue.gold_world import make_gold

pytestmark = pytest.mark.django_db
BEGUN = {"error_types": ["slip"]}


@pytest.fixture
def generation():
    generation = GenerationFactory(project__scheme=BEGUN)
    QueueItemFactory.create_batch(2, generation=generation, solution__steps=["We add.", "It is 5."])
    return generation


@pytest.fixture
def annotator(generation):
    return MembershipFactory(project=generation.project)


@pytest.fixture
def ask(generation):
    manager = MembershipFactory(project=generation.project, role="manager").user

    def ask(scheme):
        change_project(by=manager, project=generation.project, scheme=scheme)

    return ask


def claim(member):
    return claim_next(by=member.user, project=now_of(member), holding=[]).lease


def now_of(member):
    return Project.objects.get(pk=member.project_id)


def hand_in(member, lease, *, first=1, based_on=0):
    right, wrong = lease.solution.steps.all()
    submission = Submission(
        submission_id=uuid.uuid4(),
        solution=lease.solution_id,
        lease=lease.pk,
        based_on=based_on,
        finish_reason="found_error",
        path=[
            GivenPosition(0, chosen=right.pk, ratings=[GivenRating(right.pk, "rated", first)]),
            GivenPosition(1, ratings=[GivenRating(wrong.pk, "rated", -1, error_type="slip")]),
        ],
    )
    return submit_annotation(by=member.user, project=now_of(member), submission=submission).annotation


@pytest.mark.parametrize(
    "scheme", [{}, {"error_types": ["typo"]}, BEGUN | {"ask_progress": True}, BEGUN | {"offer_neutral": False}], ids=str
)
def test_what_is_asked_anew_does_not_cost_what_was_begun(annotator, ask, scheme):
    lease = claim(annotator)
    ask(scheme)
    assert hand_in(annotator, lease, first=0).first_error == 1
    assert StepRating.objects.get(rating=-1).error_type == "slip"


def test_however_often_it_changes_meanwhile(annotator, ask):
    lease = claim(annotator)
    for scheme in ({}, BEGUN | {"ask_progress": True}, {"error_types": ["typo"]}):
        ask(scheme)
    assert hand_in(annotator, lease).first_error == 1


def test_a_revision_too(annotator, ask):
    lease = claim(annotator)
    hand_in(annotator, lease)
    ask({})
    assert hand_in(annotator, lease, based_on=1).revision == 2


def test_what_fits_no_scheme_is_refused_as_by_the_latest(annotator, ask):
    lease = claim(annotator)
    ask({"error_types": ["typo"]})
    with pytest.raises(DomainError, match="rating 1, 0 or -1") as refused:
        hand_in(annotator, lease, first=7)
    assert refused.value.code == "invalid_submission"


def test_a_scheme_that_was_gone_before_the_solution_was_given_counts_no_more(annotator, ask):
    ask({"error_types": ["typo"]})
    lease = claim(annotator)
    Lease.objects.filter(pk=lease.pk).update(claimed_at=timezone.now() + timedelta(hours=1))
    with pytest.raises(DomainError, match="'slip' is not an error type of this project \\(typo\\)"):
        hand_in(annotator, lease)


def test_work_that_fits_does_not_ask_what_was_before(annotator, ask):
    lease = claim(annotator)
    ask(BEGUN | {"redundancy": True})
    with CaptureQueriesContext(connection) as statements:
        hand_in(annotator, lease)
    assert not [one["sql"] for one in statements if "'project.change'" in one["sql"]]


def said_of(solution):
    """Right up to a second step with a slip."""
    first, second = list(solution.steps.order_by("position"))[:2]
    path = [
        GivenPosition(0, chosen=first.pk, ratings=[GivenRating(first.pk, "rated", 1)]),
        GivenPosition(1, ratings=[GivenRating(second.pk, "rated", -1, error_type="slip")]),
    ]
    return Submission(uuid.uuid4(), solution.pk, "found_error", path)


def test_a_reviewer_decides_by_what_was_asked_when_they_looked(annotator, ask):
    lease = claim(annotator)
    label = hand_in(annotator, lease)
    reviewer = MembershipFactory(project=annotator.project, role="reviewer")
    ask({"error_types": ["typo"]})
    decision = said_of(lease.solution)
    assert adjudicate(by=reviewer.user, project=now_of(reviewer), submission=decision, seen=label.pk).created


def test_a_reviewer_decides_by_what_is_asked_now_however_the_labels_were_made(annotator, ask):
    lease = claim(annotator)
    ask({"error_types": ["typo"]})
    label = hand_in(annotator, lease)
    reviewer = MembershipFactory(project=annotator.project, role="reviewer")
    with pytest.raises(DomainError, match="'slip' is not an error type"):
        adjudicate(by=reviewer.user, project=now_of(reviewer), submission=said_of(lease.solution), seen=label.pk)


def test_practice_explains_an_answer_to_what_was_asked_before(annotator, ask):
    [gold] = make_gold(annotator.project, 1)
    gold.practice = True
    gold.save()
    answered = said_of(gold.solution)
    ask({"error_types": ["typo"]})
    made = answer_practice(by=annotator.user, project=now_of(annotator), submission=answered)
    assert made.explanation.outcome == "right"
