"""Two people send one submission_id at the same moment."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from annotation.core.errors import Conflict
from annotation.models import Annotation, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.labelling import submission as service
from annotation.work.labelling.payload import GivenPosition, GivenRating, Submission
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

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
