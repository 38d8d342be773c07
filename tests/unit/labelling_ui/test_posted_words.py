"""A word that no form sends changes nothing: the answer is 400, never the other choice."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from annotation.models import Dispute, GoldAnswer, LabelBatch, Membership
from tests.factories import AnnotationFactory, MembershipFactory, SolutionFactory

pytestmark = pytest.mark.django_db
WORDS = ["", "reuse", "SET_ASIDE", "uphold ", None]


@pytest.fixture
def manager() -> Membership:
    return MembershipFactory(role="manager", project__slug="algebra")


@pytest.fixture
def client(manager: Membership) -> Client:
    client = Client()
    client.force_login(manager.user)
    return client


def sent(name: str, word: str | None, **others: Any) -> dict[str, Any]:
    return others if word is None else {name: word, **others}


@pytest.mark.parametrize("word", WORDS)
def test_a_batch_that_was_set_aside_stays_so(client: Client, manager: Membership, word: str | None) -> None:
    member = MembershipFactory(project=manager.project)
    now = timezone.now()
    batch = LabelBatch.objects.create(
        project=manager.project, annotator=member, since=now, until=now, judge="overlap", state="set_aside"
    )
    address = f"/p/algebra/quality/{batch.pk}/decide/"
    assert client.post(address, sent("decision", word)).status_code == 400
    batch.refresh_from_db()
    assert batch.state == "set_aside"
    assert client.post(address, {"decision": "resume"}).status_code == 302
    batch.refresh_from_db()
    assert batch.state == "in_use"


@pytest.mark.parametrize("word", WORDS)
def test_a_dispute_stays_open(client: Client, manager: Membership, word: str | None) -> None:
    label = AnnotationFactory(solution=SolutionFactory(project=manager.project, steps=["a"]))
    dispute = Dispute.objects.create(project=manager.project, annotation=label)
    answer = client.post(f"/p/algebra/disputes/{dispute.pk}/decide/", sent("decision", word, resolution="so"))
    assert answer.status_code == 400
    dispute.refresh_from_db()
    assert dispute.state == "open"


@pytest.mark.parametrize("word", WORDS)
def test_nothing_becomes_gold(client: Client, manager: Membership, word: str | None) -> None:
    label = AnnotationFactory(solution=SolutionFactory(project=manager.project, steps=["a"]))
    answer = client.post("/p/algebra/gold/mark/", sent("use", word, annotation=label.pk))
    assert answer.status_code == 400
    assert not GoldAnswer.objects.exists()


@pytest.mark.parametrize("word", ["boss", None])
def test_a_member_stays_with_their_role(client: Client, manager: Membership, word: str | None) -> None:
    member = MembershipFactory(project=manager.project)
    answer = client.post(f"/p/algebra/members/{member.pk}/", sent("role", word))
    assert answer.status_code == 400
    member.refresh_from_db()
    assert (member.active, member.role) == (True, "annotator")
