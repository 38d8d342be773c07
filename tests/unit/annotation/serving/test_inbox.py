"""Answers reach the threads that wait for them, and no others."""

import os
import threading
import time
import uuid

import pytest
import redis

from annotation.serving import request_queue
from annotation.serving.inbox import Inbox, receive
from annotation.serving.messages import Answer, Question, decode_answer
from tests.mute_redis import mute_redis
from tests.serving_world import count_waiting
from tests.waiting import until


@pytest.fixture(autouse=True)
def own_stream(monkeypatch):
    monkeypatch.setattr(request_queue, "STREAM", f"test:{uuid.uuid4()}")
    yield
    request_queue.redis_client().delete(request_queue.STREAM)


def question(seconds=20.0):
    now = time.time()
    told = {"id": str(uuid.uuid4()), "kind": "score", "route": "score", "project": 1, "user": 1}
    return Question(**told, asked_at=now, deadline=now + seconds)


def test_each_thread_gets_the_answer_to_its_own_question_and_one_message_holds_them_all(monkeypatch):
    request_queue.join_group("worker")
    sent, answers = [question() for _ in range(5)], {}

    def ask(one):
        answers[one.id] = request_queue.wait_for_answer(one)

    threads = [threading.Thread(target=ask, args=(one,)) for one in sent]
    for thread in threads:
        thread.start()
    until(lambda: count_waiting() == 5)
    taken = request_queue.take_waiting("worker", most=9, seconds=1)
    assert len({queued.question.answer_to for queued in taken}) == 1
    numbers = {queued.question.id: number for number, queued in enumerate(taken)}
    request_queue.send_answers((queued.question, Answer(tokens=numbers[queued.question.id])) for queued in taken)
    for thread in threads:
        thread.join(20)
    assert {name: answer.tokens for name, answer in answers.items()} == numbers


def test_an_answer_that_comes_too_late_is_dropped_and_the_next_one_arrives():
    inbox = Inbox(request_queue.redis_client())
    late, next_one = question(), question()
    late.answer_to = next_one.answer_to = inbox.key
    with inbox.expect(late.id) as place:
        assert receive(place, 0.05) is None
    request_queue.send_answers([(late, Answer(tokens=1))])
    with inbox.expect(next_one.id) as place:
        request_queue.send_answers([(next_one, Answer(tokens=2))])
        assert decode_answer(receive(place, 20)).tokens == 2


def test_a_redis_that_hangs_does_not_hold_the_request(settings, monkeypatch):
    inbox = request_queue._inbox(os.getpid())
    with mute_redis() as address, monkeypatch.context() as patch:
        settings.REDIS_URL = address
        patch.setattr(request_queue, "_inbox", lambda process: inbox)
        patch.setattr(request_queue, "SOCKET_SECONDS", request_queue.SOCKET_SECONDS / 50)
        patch.setattr(request_queue, "redis_client", request_queue.redis_client.__wrapped__)
        began = time.monotonic()
        with pytest.raises(request_queue.NoWorker, match="Timeout"):
            request_queue.wait_for_answer(question())
    assert time.monotonic() - began < 1


def test_a_failing_redis_ends_the_wait_and_the_inbox_reads_on():
    class Client:
        fails = threading.Event()

        def blpop(self, keys, timeout):
            if self.fails.wait(0.05):
                self.fails.clear()
                raise redis.ConnectionError("away")
            return request_queue.redis_client().blpop(keys, timeout=0.05)

    client = Client()
    inbox = Inbox(client)
    asked = question()
    asked.answer_to = inbox.key
    with inbox.expect(asked.id) as place:
        client.fails.set()
        with pytest.raises(redis.ConnectionError):
            receive(place, 20)
    with inbox.expect(asked.id) as place:
        request_queue.send_answers([(asked, Answer(tokens=3))])
        assert decode_answer(receive(place, 20)).tokens == 3
