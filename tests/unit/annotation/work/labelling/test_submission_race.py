"""Submissions that wait for one another, or for a claim."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from annotation.core.errors import Conflict
from annotation.models import Annotation, Lease, Membership, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.labelling import submission as service
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.waiting import PATIENCE, is_waited_for, until

ID = "5a0f3a3e-3a6b-4d0c-9d53-2a0f4a6f7a11"


def all_good(lease):
    path = [
        GivenPosition(
            position=step.position, chosen=step.pk, ratings=[GivenRating(step=step.pk, state="rated", rating=1)]
        )
        for step in lease.solution.steps.all()
    ]
    return Submission(submission_id=ID, solution=lease.solution_id, finish_reason="solution", path=path)


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
        try:
            service.submit_annotation(by=person.user, project=generation.project, submission=all_good(lease))
            return "kept"
        except Conflict as refused:
            return refused.code
        finally:
            connection.close()

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
