"""What is refused before any worker is asked: quotas, a full line, a line that nobody reads."""

import time
import uuid
from contextlib import suppress

import pytest
import redis

from annotation.core.errors import DomainError
from annotation.core.membership.tokens import issue_token, limit_token
from annotation.loop.gateway.serving_model import Text
from annotation.models import Membership
from annotation.serving import quotas, request_queue
from annotation.serving.messages import Question, encode
from annotation.serving.worker import new_name, portions
from tests.factories import MembershipFactory
from tests.serving_world import count_waiting
from tests.waiting import until

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def empty_line(monkeypatch):
    """A line of its own: the worker that an earlier test started reads the other."""
    for name in ("STREAM", "RATE", "ALIVE"):
        monkeypatch.setattr(request_queue, name, f"test:{getattr(request_queue, name)}")
    request_queue.redis_client().delete(request_queue.STREAM, request_queue.RATE)
    yield
    request_queue.redis_client().delete(request_queue.STREAM, request_queue.RATE)


@pytest.fixture
def member():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def token(member):
    token, _ = issue_token(by=member.user, name=str(uuid.uuid4()))
    for key in request_queue.redis_client().scan_iter(f"serving:quota:{token.pk}:*"):
        request_queue.redis_client().delete(key)
    return token


def question(chars=1, **fields):
    now = time.time()
    told = {"id": str(uuid.uuid4()), "kind": "score", "route": "score", "project": 1, "user": 1}
    texts = [Text("p", (("s" * chars, "reasoning"),))]
    return Question(**told, asked_at=now, deadline=now + 0.3, texts=texts, **fields)


def test_a_quota_says_which_limit_is_met_and_how_long_to_wait(member, token):
    token = limit_token(by=member.user, token_id=token.pk, limits={"requests_per_day": 2, "steps_per_day": 10})
    quotas.spend(token, member.project, steps=4)
    with pytest.raises(quotas.QuotaMet) as met:
        quotas.spend(token, member.project, steps=7)
    assert met.value.extra["limit"] == "steps_per_day"
    quotas.spend(token, member.project, steps=6)  # what was refused did not count
    with pytest.raises(quotas.QuotaMet) as met:
        quotas.spend(token, member.project, steps=1)
    assert (met.value.status, met.value.extra["limit"]) == (429, "requests_per_day")
    assert 0 < met.value.wait <= 86_400


def test_the_lower_of_the_tokens_and_the_projects_limits_holds(member, token):
    member.project.policy = {"serving": {"requests_per_minute": 5, "steps_per_day": 0}}
    token = limit_token(by=member.user, token_id=token.pk, limits={"requests_per_minute": 9, "steps_per_day": 3})
    assert quotas.limits_of(token, member.project) == {"requests_per_minute": 5, "steps_per_day": 3}


def test_what_could_never_pass_is_refused_for_good(member, token):
    token = limit_token(by=member.user, token_id=token.pk, limits={"steps_per_minute": 3})
    with pytest.raises(DomainError) as refused:
        quotas.spend(token, member.project, steps=4)
    assert (refused.value.code, refused.value.status) == ("larger_than_quota", 400)


def test_a_full_line_sends_away_with_the_time_that_it_takes(settings):
    settings.SERVING_MOST_WAITING = 4
    request_queue.report_rate(2.0)
    for _ in range(4):
        request_queue._enqueue(question())
    with pytest.raises(request_queue.Overloaded) as refused:
        request_queue.wait_for_answer(question())
    assert (refused.value.status, refused.value.wait) == (429, 2)
    assert count_waiting() == 4


def test_an_old_question_holds_the_line_until_a_worker_has_taken_it():
    request_queue.join_group("busy")
    request_queue.redis_client().xadd(request_queue.STREAM, {"q": encode(question())}, id="1-0")
    with pytest.raises(request_queue.Overloaded):
        request_queue._enqueue(question())
    [taken] = request_queue.take_waiting("busy", most=9, seconds=0.01)
    request_queue._enqueue(question())
    request_queue.delete_entries([taken.entry_id])
    request_queue.leave_group("busy")


def test_a_line_that_nobody_reads_says_so_in_time_and_leaves_nothing_behind():
    with pytest.raises(request_queue.NoWorker) as silence:
        request_queue.wait_for_answer(question())
    assert silence.value.status == 503
    assert count_waiting() == 0


def test_a_living_worker_that_is_too_slow_is_a_timeout():
    request_queue.send_heartbeat("slow")
    with pytest.raises(request_queue.NoAnswer) as late:
        request_queue.wait_for_answer(question())
    assert late.value.status == 504
    request_queue.leave_group("slow")


def test_a_dead_workers_questions_are_taken_over_and_a_living_ones_are_not():
    request_queue.join_group("dead")
    request_queue.join_group("living")
    asked = question()
    request_queue._enqueue(asked)
    assert [place.question.id for place in request_queue.take_waiting("dead", most=9, seconds=0.01)] == [asked.id]
    assert request_queue.claim_abandoned("living") == []
    request_queue.leave_group("dead")
    time.sleep(0.6)  # a question must have been in hand for half a second
    [place] = request_queue.claim_abandoned("living")
    assert place.question.id == asked.id
    request_queue.delete_entries([place.entry_id])
    request_queue.leave_group("living")


def test_no_question_is_lost_if_redis_breaks_while_they_are_taken_over(monkeypatch):
    request_queue.join_group("living")
    asked = [question(), question()]
    for worker, of_worker in zip(("dead", "also dead"), asked, strict=True):
        request_queue._enqueue(of_worker)
        request_queue.take_waiting(worker, most=1, seconds=0.01)
    time.sleep(0.6)
    client = request_queue.redis_client()
    run, commands = client.execute_command, []

    def break_after_a_claim(*command, **options):
        if "XCLAIM" in commands:
            raise redis.ConnectionError
        commands.append(command[0])
        return run(*command, **options)

    claimed = []
    with monkeypatch.context() as broken, suppress(redis.ConnectionError):
        broken.setattr(client, "execute_command", break_after_a_claim)
        claimed += request_queue.claim_abandoned("living")
    claimed += request_queue.claim_abandoned("living")
    assert {place.question.id for place in claimed} == {one.id for one in asked}
    request_queue.leave_group("living")


def test_a_batch_is_cut_where_its_texts_grow_long_and_keeps_the_order():
    places = [request_queue.QueuedQuestion(str(n), question(chars)) for n, chars in enumerate([10, 10, 500, 10, 10])]
    cut = list(portions(places, 100))
    assert [[place.entry_id for place in portion] for portion in cut] == [["0", "1"], ["2"], ["3", "4"]]


def test_a_restarted_worker_answers_what_the_process_before_it_left():
    before, restarted = new_name(), new_name()  # the host and the process id are the same
    request_queue.join_group(before)
    request_queue.redis_client().xadd(request_queue.STREAM, {"q": encode(question())})
    [left] = request_queue.take_waiting(before, most=1, seconds=1)
    request_queue.leave_group(before)  # as a heartbeat that has run out
    request_queue.join_group(restarted)
    [claimed] = until(lambda: request_queue.claim_abandoned(restarted))
    assert claimed == left
