"""An outage of the database in the middle of a turn loses none of the questions that the thread holds."""

import time
from types import SimpleNamespace

import pytest
from django.db import OperationalError

from annotation.loop.gateway.serving_model import Text
from annotation.serving import request_queue, worker
from annotation.serving.messages import Question
from annotation.serving.request_queue import QueuedQuestion


def queued(number):
    now = time.time()
    question = Question(f"q{number}", "score", "score", project=number, user=1, asked_at=now, deadline=now + 9)
    question.texts = [Text("p" * 100, ())]
    return QueuedQuestion(f"{number}-0", question)


class Shelf:
    """Its models are still loading. The database is away for what is `broken`: a project, or the champions."""

    broken = None

    def find(self, question):
        if question.project == self.broken:
            raise OperationalError("the database is away")

    def refresh(self):
        if self.broken == "champions":
            raise OperationalError("the database is away")

    def update(self):
        pass


@pytest.fixture
def thread(monkeypatch, settings):
    """The first thread of a worker, before its turn with three questions, each a portion of its own."""
    settings.SERVING_BATCH_CHARS = 100
    monkeypatch.setattr(request_queue, "take_waiting", lambda *_, **__: [queued(1), queued(2), queued(3)])
    monkeypatch.setattr(request_queue, "claim_abandoned", lambda name: [])
    thread = worker.ScoreThread(SimpleNamespace(worker="w", shelf=Shelf(), journal=None, stopping=None), 0)
    thread._most = 16
    return thread


@pytest.mark.parametrize("broken", ["champions", 1, 2, 3])
def test_an_interrupted_turn_keeps_every_question(thread, broken):
    thread._shelf.broken = broken
    with pytest.raises(OperationalError):
        thread._turn()
    assert sorted(one.question.project for one in thread._parked) == [1, 2, 3]


def test_questions_wait_for_their_model_in_order(thread):
    thread._turn()
    assert [one.question.project for one in thread._parked] == [1, 2, 3]
