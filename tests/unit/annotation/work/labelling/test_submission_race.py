"""Submissions that wait for one another, or for a claim."""

import threading
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID, uuid4

import pytest
from django.db import connection, transaction
from msgspec.structs import replace

from annotation.core.errors import Conflict
from annotation.models import Annotation, Lease, Membership, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.labelling import submission as service
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from annotation.work.queue.items import leave_queue
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.waiting import PATIENCE, is_waited_for, until

ID = UUID("5a0f3a3e-3a6b-4d0c-9d53-2a0f4a6f7a11")


def all_good(lease):
    path = [
        GivenPosition(
            position=step.position, chosen=step.pk, ratings=[GivenRating(step=step.pk, state="rated", rating=1)]
        )
        for step in lease.solution.steps.all()
    ]
    return Submission(submission_id=ID, solution=lease.solution_id, finish_reason="solution", path=path)


def outcome_of(person, submission):
    """ "kept", or the code of the conflict. For a thread, which closes its connection."""
    try:
        service.submit_annotation(by=person.user, project=person.project, submission=submission)
        return "kept"
    except Conflict as refused:
        return refused.code
    finally:
        connection.close()


@pytest.mark.django_db(transaction=True)
def test_one_is_kept_and_the_other_is_a_conflict(monkeypatch):
    generation = GenerationFactory()
    people = [MembershipFactory(project=generation.project) for _ in range(2)]
    for _ in people:
        QueueItemFactory(generation=generation)
    leases = [claim_next(by=person.user, project=generation.project, holding=[]).lease for person in people]
    both_looked, validate = threading.Barrier(2), service.validate_claimed

    def validate_together(*given):
        both_looked.wait(timeout=10)
        return validate(*given)

    monkeypatch.setattr(service, "validate_claimed", validate_together)

    def send(person, lease):
        return outcome_of(person, all_good(lease))

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(send, people, leases)) == ["kept", "submission_conflict"]
    assert Annotation.objects.count() == 1
    assert sorted(QueueItem.objects.values_list("leased", "done")) == [(0, 1), (1, 0)], (
        "the refused one keeps its place"
    )


@pytest.mark.django_db(transaction=True)
def test_a_lease_that_moves_while_the_submission_waits_is_submitted_at_its_new_item():
    generation = GenerationFactory()
    person = MembershipFactory(project=generation.project)
    before = QueueItemFactory(generation=generation)
    lease = claim_next(by=person.user, project=generation.project, holding=[]).lease
    Lease.objects.update(state="expired")
    QueueItem.objects.update(leased=0, state="retired")
    generation.state = "retired"
    generation.save()
    later = GenerationFactory(project=generation.project, number=generation.number + 1)
    item = QueueItemFactory(generation=later, solution=before.solution)
    locked = threading.Event()

    def renew():
        try:
            with transaction.atomic():
                list(Membership.objects.select_for_update(no_key=True).filter(pk=person.pk))
                locked.set()
                until(is_waited_for)
                Lease.objects.update(item=item, state="active")
                QueueItem.objects.filter(pk=item.pk).update(leased=1, state="full")
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as threads:
        renewed = threads.submit(renew)
        locked.wait(PATIENCE)
        submitted = service.submit_annotation(by=person.user, project=generation.project, submission=all_good(lease))
        renewed.result()

    assert (submitted.annotation.item_id, submitted.annotation.counted) == (item.pk, True)
    assert QueueItem.objects.get(pk=item.pk).done == 1


@pytest.mark.django_db(transaction=True)
def test_an_item_that_leaves_the_queue_after_it_was_read_gets_no_further_places(monkeypatch):
    generation = GenerationFactory()
    person = MembershipFactory(project=generation.project)
    QueueItemFactory(generation=generation, wanted=3)
    lease = claim_next(by=person.user, project=generation.project, holding=[]).lease
    validate, tries = service.validate_claimed, []

    def leave_meanwhile(*given):
        if not tries:
            with transaction.atomic():
                leave_queue([lease.solution_id])
        tries.append(given)
        return validate(*given)

    monkeypatch.setattr(service, "validate_claimed", leave_meanwhile)
    submitted = service.submit_annotation(by=person.user, project=generation.project, submission=all_good(lease))

    assert len(tries) == 2, "the second try locks the item first"
    assert (submitted.created, submitted.annotation.counted) == (True, True)
    item = QueueItem.objects.get()
    assert (item.wanted, item.leased, item.done, item.state) == (1, 0, 1, "done")


@pytest.mark.django_db(transaction=True)
def test_of_two_tabs_that_read_the_same_lease_one_submits_and_the_other_sees_the_newer_label(monkeypatch):
    generation = GenerationFactory()
    person = MembershipFactory(project=generation.project)
    QueueItemFactory(generation=generation, wanted=2)
    lease = claim_next(by=person.user, project=generation.project, holding=[]).lease
    both_looked, validate, tries = threading.Barrier(2), service.validate_claimed, []

    def validate_together(*given):
        tries.append(given)
        if len(tries) <= 2:
            both_looked.wait(timeout=PATIENCE)
        return validate(*given)

    monkeypatch.setattr(service, "validate_claimed", validate_together)

    def send(_tab):
        return outcome_of(person, replace(all_good(lease), submission_id=uuid4()))

    with ThreadPoolExecutor(2) as threads:
        assert sorted(threads.map(send, range(2))) == ["kept", "revision_conflict"]
    assert Annotation.objects.count() == 1
    assert list(QueueItem.objects.values_list("leased", "done", "state")) == [(0, 1, "ready")]
