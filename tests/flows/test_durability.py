"""A response to an annotator is sent when the disk has everything that it reports."""

import pytest
from django.db import connection
from rest_framework.test import APIClient

from annotation.api import annotations
from annotation.models import Annotation
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory
from tests.flows.test_labelling_api import address, finished

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def as_in_production():
    """The server of the tests does not wait for its disk."""
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
        yield
        cursor.execute("RESET synchronous_commit")


@pytest.fixture
def generation():
    return GenerationFactory()


@pytest.fixture
def client(generation):
    client = APIClient()
    client.force_login(MembershipFactory(project=generation.project).user)
    return client


@pytest.fixture
def committed(monkeypatch):
    """Ends of the WAL after labels were committed, and before the claims that follow."""
    ends, claim = [], annotations.answer_claim

    def noted(**given):
        ends.append(end_of_wal("insert"))
        return claim(**given)

    monkeypatch.setattr(annotations, "answer_claim", noted)
    return ends


def end_of_wal(kind):
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT pg_current_wal_{kind}_lsn() - '0/0'::pg_lsn")
        return cursor.fetchone()[0]


@pytest.mark.parametrize("left", [0, 1])
def test_a_label_that_claims_is_on_the_disk_whether_there_is_a_next_task_or_not(client, generation, committed, left):
    QueueItemFactory.create_batch(1 + left, generation=generation)
    task = client.post(address(generation.project, "claim/"), {}).json()["task"]
    label = finished(task, holding=[])
    for status in (201, 200):
        receipt = client.post(address(generation.project, "annotations/"), label)
        assert (receipt.status_code, bool(receipt.json()["next"]["task"])) == (status, bool(left))
        assert end_of_wal("flush") >= committed.pop()


def test_a_label_is_on_the_disk_when_a_retry_is_answered_although_the_claim_of_the_first_try_failed(
    client, generation, monkeypatch
):
    QueueItemFactory(generation=generation)
    task = client.post(address(generation.project, "claim/"), {}).json()["task"]
    label = finished(task)

    def fail(**_given):
        raise RuntimeError

    monkeypatch.setattr(annotations, "answer_claim", fail)
    client.raise_request_exception = False
    assert client.post(address(generation.project, "annotations/"), label | {"holding": []}).status_code == 500
    stored = end_of_wal("insert")
    assert client.post(address(generation.project, "annotations/"), label).status_code == 200
    assert end_of_wal("flush") >= stored
    assert Annotation.objects.count() == 1
