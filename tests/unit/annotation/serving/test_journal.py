"""The score log is written after the answers, and closes in any state of the database."""

import threading
import time

import pytest
from django.db import OperationalError

from annotation.serving import journal
from annotation.serving.messages import Answer, Question
from annotation.serving.request_queue import QueuedQuestion


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
