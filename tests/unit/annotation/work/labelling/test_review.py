"""Reviewers: decisions that override, labels sent back, and what waits for them."""

import uuid

import pytest

from annotation.core.errors import Conflict, DomainError, Forbidden
from annotation.labels.agreement.cube import agreement_of
from annotation.labels.consensus.review_queue import (
    next_to_review,
    review_counts,
    to_review,
    waiting_solutions,
)
from annotation.labels.datasets.snapshots import create_snapshot, read_snapshot
from annotation.models import Annotation, AuditEntry, Dispute, Lease, Membership, QueueItem, SentBack
from annotation.work.claiming import claim_next
from annotation.work.labelling.adjudication import accept, adjudicate
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.labelling.sending_back import send_back, sent_back_to, take_back
from annotation.work.labelling.submission import submit_annotation
from tests.factories import AnnotationFactory, GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(project):
    GenerationFactory(project=project)
    return project


@pytest.fixture
def reviewer(project):
    return MembershipFactory(project=project, role=Membership.Role.REVIEWER).user


@pytest.fixture
def item(project):
    return QueueItemFactory(generation=project.generations.get(), lane="overlap", wanted=3)


@pytest.fixture
def people(project):
    return [MembershipFactory(project=project) for _ in range(2)]


def label_of(solution, *ratings, flagged=(), unsure=(), **fields):
    """A submission that rates the first steps; a step rated -1 ends it."""
    steps = list(solution.steps.filter(alternative=0))
    path = []
    for place, rating in enumerate(ratings):
        given = GivenRating(
            steps[place].pk,
            "unsure" if place in unsure else "rated",
            None if place in unsure else rating,
            flagged=place in flagged,
        )
        path.append(
            GivenPosition(place, chosen=None if rating == -1 else steps[place].pk, dwell_ms=900, ratings=[given])
        )
    finish = "found_error" if -1 in ratings else "solution"
    return Submission(uuid.uuid4(), solution.pk, finish, path, total_ms=5000, **fields)


def label(member, item, *ratings, **fields):
    """What a person hands in after claiming the item; a second time, their next revision."""
    if not Lease.objects.filter(annotator=member, solution=item.solution_id).exists():
        assert claim_next(by=member.user, project=item.project, holding=[]).lease.solution_id == item.solution_id
    given = label_of(item.solution, *ratings, **fields)
    return submit_annotation(by=member.user, project=item.project, submission=given).annotation


def newest(item):
    return Annotation.objects.filter(solution=item.solution).order_by("-pk").first().pk


class TestAdjudication:
    def test_the_accepted_label_decides_in_the_queue_the_consensus_and_the_snapshot(
        self, project, manager, reviewer, item, people
    ):
        label(people[0], item, 1, 1, 1)
        right = label(people[1], item, 1, -1, flagged=[1])
        assert [solution.pk for solution in to_review(project)] == [item.solution_id]

        made = accept(by=reviewer, annotation=right, submission_id=uuid.uuid4(), seen=newest(item), comment="3 + 4.")

        decided = made.annotation
        assert (decided.adjudicates, decided.first_error, decided.total_ms, decided.comment) == (
            True,
            1,
            None,
            "3 + 4.",
        )
        assert [(r.rating, r.flagged) for r in decided.ratings.order_by("step__position")] == [(1, False), (-1, False)]
        assert not to_review(project).exists()
        item.refresh_from_db()
        assert item.state == QueueItem.State.RETIRED, "nobody else is asked"
        [record] = read_snapshot(create_snapshot(by=manager, project=project, filters={}))
        assert [(c.position, c.good, c.bad, c.adjudicated) for c in record.consensus] == [
            (0, 1, 0, True),
            (1, 0, 1, True),
        ], "what one of them said beyond the error counts no more"
        assert sorted(a.adjudicates for a in record.annotations) == [False, False, True]
        assert agreement_of(project).pairs == 1, "who decides knows what the others said"
        told = AuditEntry.objects.get(action="annotation.adjudicate")
        assert (told.by, told.after["accepts"], told.after["first_error"]) == (reviewer, right.pk, 1)

    def test_a_label_of_the_reviewers_own_decides_once_whatever_is_retried(self, project, reviewer, item, people):
        label(people[0], item, 1, 1, 1)
        label(people[1], item, -1)
        given = label_of(item.solution, 1, 1, -1)
        first = adjudicate(by=reviewer, project=project, submission=given, seen=newest(item))
        again = adjudicate(by=reviewer, project=project, submission=given, seen=0)
        assert (first.created, again.created, again.annotation.pk) == (True, False, first.annotation.pk)
        changed = adjudicate(
            by=reviewer, project=project, submission=label_of(item.solution, 1, 0, 1), seen=newest(item)
        )
        assert (changed.annotation.revision, changed.annotation.first_error) == (2, -1)
        assert AuditEntry.objects.filter(action="annotation.adjudicate").first().before["first_error"] == 2

    def test_what_came_meanwhile_is_looked_at_first(self, project, reviewer, item, people):
        one = label(people[0], item, 1, 1, 1)
        label(people[1], item, -1)
        with pytest.raises(Conflict) as refused:
            accept(by=reviewer, annotation=one, submission_id=uuid.uuid4(), seen=one.pk)
        assert refused.value.code == "labels_changed"

    def test_a_decision_stays_one_when_its_giver_revises_it(self, project, reviewer, item, people):
        member = Membership.objects.get(user=reviewer)
        label(member, item, 1, 1, 1)
        label(people[0], item, -1)
        decided = adjudicate(by=reviewer, project=project, submission=label_of(item.solution, -1), seen=newest(item))
        revised = label(member, item, 1, -1, based_on=decided.annotation.revision)
        assert (revised.revision, revised.adjudicates) == (3, True)
        assert agreement_of(project).value == 0, "their word before they decided is their own"

    def test_only_staff_decide_and_only_by_labels_of_people(self, project, reviewer, item, people):
        one = label(people[0], item, 1, 1, 1)
        with pytest.raises(Forbidden):
            accept(by=people[1].user, annotation=one, submission_id=uuid.uuid4(), seen=newest(item))
        judge = AnnotationFactory(solution=item.solution, annotator=None, source__kind="model_judge", source__name="m")
        with pytest.raises(DomainError, match="Only a human label"):
            accept(by=reviewer, annotation=judge, submission_id=uuid.uuid4(), seen=newest(item))
        with pytest.raises(DomainError) as refused:
            adjudicate(by=reviewer, project=project, submission=label_of(item.solution, 1, 1), seen=newest(item))
        assert refused.value.extra == {"field": "path[2]"}


class TestSendingBack:
    def test_the_giver_looks_again_and_the_reviewer_after_them(self, project, reviewer, item, people):
        label(people[0], item, 1, 1, 1)
        wrong = label(people[1], item, -1)
        sent = send_back(by=reviewer, annotation=wrong, reason="Step 1 only restates the problem.")
        assert [one.reason for one in sent_back_to(people[1])] == ["Step 1 only restates the problem."]
        assert review_counts(project) == {"all": 0, "disagreement": 0, "dispute": 0, "doubt": 0, "sent_back": 1}

        revised = label(people[1], item, 1, -1, based_on=1)

        sent.refresh_from_db()
        assert (sent.state, sent.answer) == ("answered", revised)
        assert not sent_back_to(people[1]).exists()
        assert [solution.pk for solution in to_review(project, "disagreement")] == [item.solution_id]
        told = AuditEntry.objects.filter(action__startswith="sent_back").order_by("pk")
        assert [(entry.action, entry.by) for entry in told] == [
            ("sent_back.open", reviewer),
            ("sent_back.answer", people[1].user),
        ]

    def test_a_reviewer_may_let_it_stand_after_all(self, project, reviewer, item, people):
        label(people[0], item, 1, 1, 1)
        sent = send_back(by=reviewer, annotation=label(people[1], item, -1), reason="Look.")
        assert take_back(by=reviewer, sent=sent).state == "withdrawn"
        assert review_counts(project)["disagreement"] == 1
        with pytest.raises(Conflict):
            take_back(by=reviewer, sent=sent)

    def test_what_cannot_be_sent_back(self, project, reviewer, item, people):
        one = label(people[0], item, 1, 1, 1)

        def refused(annotation, *, by=reviewer, reason="Look."):
            with pytest.raises(DomainError) as error:
                send_back(by=by, annotation=annotation, reason=reason)
            return error.value.code

        assert refused(one, by=people[1].user) == "role_needed"
        assert refused(one, reason=" ") == "reason_needed"
        imported = AnnotationFactory(solution=item.solution, annotator=None)
        assert refused(imported) == "not_revisable"
        gold = AnnotationFactory(solution=item.solution, lane="gold", lease=one.lease)
        assert refused(gold) == "not_revisable", "it would tell that it is gold"
        send_back(by=reviewer, annotation=one, reason="Look.")
        assert refused(one) == "sent_back_already"
        label(people[0], item, -1, based_on=1)
        assert refused(one) == "replaced"
        assert SentBack.objects.count() == 1


class TestQueue:
    def test_disagreements_come_first_then_disputes_then_doubts(self, project, reviewer, people):
        def labelled(*labels, **fields):
            item = QueueItemFactory(generation=project.generations.get(), wanted=len(labels))
            return item.solution_id, [
                label(member, item, *ratings, **fields) for member, ratings in zip(people, labels, strict=False)
            ]

        flagged, _ = labelled([1, 1, 1], flagged=[1])
        unsure, _ = labelled([1, 1, 1], unsure=[2])
        disputed, [claim] = labelled([1, 1, 1])
        Dispute.objects.create(project=project, annotation=claim)
        settled, _ = labelled([1, 1, 1], [1, 1, 1])
        split, _ = labelled([1, 1, 1], [1, -1])

        waiting = [solution.pk for solution in to_review(project)]

        assert waiting == [split, disputed, unsure, flagged], "the newest first of those alike"
        assert waiting_solutions(project).in_order() == waiting
        assert waiting_solutions(project).in_order("doubt") == [unsure, flagged]
        assert settled not in waiting
        assert review_counts(project) == {"all": 4, "disagreement": 1, "dispute": 1, "doubt": 2, "sent_back": 0}
        assert [next_to_review(project, after=one) for one in waiting] == [*waiting[1:], split]
        assert next_to_review(project, after=split, reason="disagreement") is None
        assert next_to_review(project, after=settled, reason="doubt") == unsure
