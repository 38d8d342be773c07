"""The score log is written after the answers, and closes in any state of the database."""

import threading
import time
import uuid
from datetime import UTC, datetime

import pytest
from django.db import OperationalError, connection

from annotation.loop.gateway.serving_model import Text
from annotation.models import Project, ServedScore
from annotation.serving import journal
from annotation.serving.messages import Answer, Failure, Question
from annotation.serving.request_queue import QueuedQuestion
from annotation.serving.shelf import served_of
from prm.messages import Message
from prm.trust import Scored
from tests.factories import MembershipFactory, ModelVersionFactory, ProjectFactory, UserFactory


@pytest.fixture
def unreachable(monkeypatch):
    """A database that does not answer; set when the writer has noticed."""
    noticed = threading.Event()

    def fail(batch):
        noticed.set()
        raise OperationalError("the database is away")

    monkeypatch.setattr(journal, "write_rows", fail)
    monkeypatch.setattr(journal, "MOST_UNWRITTEN", 1)
    return noticed


def answered(number):
    question = Question(f"q{number}", "score", "score", project=1, user=1, asked_at=time.time(), deadline=0)
    return QueuedQuestion(f"{number}-0", question), Answer()


def test_a_full_log_closes_while_the_database_is_away(unreachable):
    full = journal.Journal()
    full.write([answered(1)])
    assert unreachable.wait(10)
    full.write([answered(2)])  # the writer retries the first and takes no more
    closing = threading.Thread(target=full.close, daemon=True)
    closing.start()
    closing.join(30)
    assert not closing.is_alive()


TEXTS = [Text('p \u00e4 \\ "', (("one", "reasoning"), ("two", "answer"))), Text("q", (("three", "reasoning"),))]
SCORED = [
    Scored([0.25, None], [0.1, None], 0.25, None, 0.5, True, None, 1.5),
    Scored([1 / 3], [None], 1 / 3, -1, 0.1, False, False),
]


def logged(project, user, version, **fields):
    told = {"kind": "score", "route": "score", "project": project.pk, "user": user.pk, "domain": "algebra"}
    question = Question(id=str(uuid.uuid4()), **told, asked_at=time.time(), deadline=0, texts=TEXTS)
    answer = Answer(served=served_of(version, 0.5), results=SCORED, batch=3)
    return QueuedQuestion("1-0", question), answer, datetime.now(UTC)


@pytest.mark.django_db
def test_a_row_has_what_was_asked_and_answered_and_is_written_once():
    version = ModelVersionFactory(number=4)
    entry = logged(version.project, UserFactory(), version)
    journal.write_rows([entry])
    journal.write_rows([entry])
    first, second = ServedScore.objects.order_by("index")
    question = entry[0].question
    assert (str(first.request), first.user_id, first.domain, first.batch) == (question.id, question.user, "algebra", 3)
    assert (first.model_version, first.model_number, first.model_sha256) == (version, 4, version.sha256)
    assert (first.mean, first.spread, first.out_of_domain, first.abstained) == ([0.25, None], [0.1, None], True, None)
    assert (second.mean, second.score, second.first_suspicious, second.distance) == ([1 / 3], 1 / 3, -1, None)
    assert first.text == [TEXTS[0].problem, [["one", "reasoning"], ["two", "answer"]]]
    assert first.text_hash == journal.text_hash(TEXTS[0])
    assert first.asked_at.timestamp() == pytest.approx(question.asked_at, abs=1e-5)


@pytest.mark.django_db
def test_a_failure_and_a_text_that_may_not_be_stored():
    project = ProjectFactory(policy={"serving": {"keep_text": False}})
    queued, _, now = logged(project, UserFactory(), ModelVersionFactory(project=project))
    journal.write_rows([(queued, Answer(failure=Failure(500, "scoring_failed", Message("no_champion"))), now)])
    row = ServedScore.objects.filter(index=0).get()
    assert (row.failure, row.mean, row.score, row.text, row.model_version) == ("scoring_failed", [], None, None, None)


@pytest.mark.django_db
def test_what_was_deleted_before_its_row_was_written_holds_up_no_other_row():
    version, kept = ModelVersionFactory(), MembershipFactory()
    gone = logged(version.project, UserFactory(), version)
    other = logged(kept.project, kept.user, version)
    User = type(kept.user)
    User.objects.filter(pk=gone[0].question.user).delete()
    journal.write_rows([gone, other])
    connection.check_constraints()
    assert set(ServedScore.objects.values_list("user", flat=True)) == {None, kept.user_id}
    Project.objects.filter(pk=kept.project_id).delete()
    journal.write_rows([logged(version.project, kept.user, version), other])
    assert not ServedScore.objects.filter(project=kept.project_id).exists()
