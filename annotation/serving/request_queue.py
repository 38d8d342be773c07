"""The queue of questions: a Redis stream with one consumer group of workers; answers go to the inbox of their process.

A question stays on the stream until it is answered and logged, so another worker claims the questions of a worker
that died. The stream's length and age show how busy the workers are.
"""

import math
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from annotation.core.errors import DomainError
from annotation.serving.inbox import Inbox, receive
from annotation.serving.messages import Answer, Question, decode_answer, decode_question, encode
from prm.messages import Message

STREAM, GROUP = "serving:questions", "score"
RATE, ALIVE = "serving:rate", "serving:alive"
ANSWER_SECONDS = 60  # answers to a process that has ended expire
ALIVE_SECONDS = 4
SOCKET_SECONDS = 5  # a Redis that hangs must not hold a request; above the longest blocking read
ONCE_MORE = Retry(NoBackoff(), 1)  # for a connection that a restart of Redis has closed
SHORTEST_RETRY, LONGEST_RETRY = 1, 60
_OPENING = Lock()  # of the inbox
DEFAULT_RATE = 10.0  # questions a second, before any measurement

# The age counts from the first undelivered entry: delivered entries stay on the stream until they are logged.
_ENQUEUE = """
local waiting = redis.call('XLEN', KEYS[1])
local delivered = nil
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
if not groups.err and groups[1] then
  for i = 1, #groups[1], 2 do
    if groups[1][i] == 'last-delivered-id' then delivered = groups[1][i + 1] end
  end
end
local first = redis.call('XRANGE', KEYS[1], delivered and '(' .. delivered or '-', '+', 'COUNT', 1)
local age = 0
if first[1] then
  age = redis.call('TIME')[1] - math.floor(tonumber(string.match(first[1][1], '^%d+')) / 1000)
end
if waiting >= tonumber(ARGV[2]) or age > tonumber(ARGV[3]) then return {waiting, age, false} end
return {waiting, age, redis.call('XADD', KEYS[1], '*', 'q', ARGV[1])}
"""
# One script: if Redis failed between two commands, the worker would not know of the questions that it had claimed.
_CLAIM = """
local claimed = {}
for _, consumer in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[1], ARGV[1])) do
  local name = consumer[2]
  if name ~= ARGV[2] and redis.call('EXISTS', ARGV[3] .. name) == 0 then
    local ids = {}
    for _, entry in ipairs(redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1000, name)) do
      ids[#ids + 1] = entry[1]
    end
    if #ids == 0 then
      redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], name)
    else
      for _, entry in ipairs(redis.call('XCLAIM', KEYS[1], ARGV[1], ARGV[2], 500, unpack(ids))) do
        if entry then claimed[#claimed + 1] = {entry[1], entry[2][2]} end
      end
    end
  end
end
return claimed
"""


class Overloaded(DomainError):
    """More questions wait than can be answered in time; `wait` is in seconds."""

    status = 429

    def __init__(self, waiting: int, wait: int) -> None:
        self.wait = wait
        super().__init__(Message("overloaded", n=waiting, wait=wait), {"waiting": waiting, "retry_after": wait})


class NoAnswer(DomainError):
    """No answer within the timeout."""

    status = 504


class NoWorker(DomainError):
    """No worker of the score queue runs, or Redis does not answer."""

    status = 503
    wait = 5


@dataclass(frozen=True)
class QueuedQuestion:
    """A question and its entry on the stream."""

    entry_id: str
    question: Question


@lru_cache(maxsize=1)
def redis_client() -> Any:
    """The client that threads share; each call uses its own connection of the pool."""
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=SOCKET_SECONDS, retry=ONCE_MORE
    )


def wait_for_answer(question: Question) -> Answer:
    """Enqueue the question and wait for its answer. Raises Overloaded, NoAnswer, NoWorker."""
    with _OPENING:
        inbox = _inbox(os.getpid())
    question.answer_to = inbox.key
    with redis_needed(), inbox.expect(question.id) as place:
        entry_id = _enqueue(question)
        answer = receive(place, max(0.01, question.deadline - question.asked_at))
        if answer is None:
            redis_client().xdel(STREAM, entry_id)
            raise _why_no_answer(question)
    return decode_answer(answer)


@lru_cache(maxsize=1)
def _inbox(process: int) -> Inbox:
    """The inbox of this process: after a fork, the thread of the parent's is not there."""
    return Inbox(redis_client())


@contextmanager
def redis_needed() -> Iterator[None]:
    """Raises NoWorker if Redis fails within the block."""
    try:
        yield
    except redis.RedisError as error:
        raise NoWorker(Message("redis_away", error=error)) from error


def count_workers() -> int:
    """The number of workers with a current heartbeat."""
    return len(list(redis_client().scan_iter(match=_alive_key("*"), count=1000)))


def join_group(worker: str) -> None:
    """Register the worker as a reader of the stream. Call it again after Redis has lost its data."""
    try:
        redis_client().xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    except redis.ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise
    send_heartbeat(worker)


def send_heartbeat(worker: str) -> None:
    redis_client().set(_alive_key(worker), 1, ex=ALIVE_SECONDS)


def leave_group(worker: str) -> None:
    """End the heartbeat, so that another worker claims the unanswered questions at once."""
    redis_client().delete(_alive_key(worker))


def take_waiting(worker: str, *, most: int, seconds: float) -> list[QueuedQuestion]:
    """Up to `most` waiting questions; if there are none, the first that arrives within `seconds`."""
    streams = redis_client().xreadgroup(GROUP, worker, {STREAM: ">"}, count=most, block=max(1, int(seconds * 1000)))
    return [queued for _, entries in streams or [] for queued in _decode_entries(entries)]


def claim_abandoned(worker: str) -> list[QueuedQuestion]:
    """Claim the unanswered questions of workers without a heartbeat, and forget such workers that have none."""
    claimed = redis_client().eval(_CLAIM, 1, STREAM, GROUP, worker, _alive_key(""))
    return [QueuedQuestion(entry_id.decode(), decode_question(question)) for entry_id, question in claimed]


def send_answers(answers: Iterable[tuple[Question, Answer]]) -> None:
    by_process: defaultdict[str, list[tuple[str, Answer]]] = defaultdict(list)
    for question, answer in answers:
        by_process[question.answer_to].append((question.id, answer))
    with redis_client().pipeline() as pipe:
        for key, of_process in by_process.items():
            pipe.rpush(key, encode(of_process))
            pipe.expire(key, ANSWER_SECONDS)
        pipe.execute()


def delete_entries(entry_ids: Iterable[str]) -> None:
    """Delete answered and logged questions from the stream."""
    ids = list(entry_ids)
    redis_client().pipeline().xack(STREAM, GROUP, *ids).xdel(STREAM, *ids).execute()


def report_rate(questions_per_second: float) -> None:
    """Store a busy worker's throughput, from which Retry-After is estimated."""
    redis_client().set(RATE, f"{questions_per_second:.4f}", ex=3600)


def _enqueue(question: Question) -> bytes:
    limits = (settings.SERVING_MOST_WAITING, settings.SERVING_LONGEST_WAIT)
    waiting, age, entry_id = redis_client().eval(_ENQUEUE, 1, STREAM, encode(question), *limits)
    if entry_id is None:
        if age > settings.SERVING_LONGEST_WAIT and not count_workers():
            raise _no_worker()
        raise Overloaded(waiting, _estimate_retry_after(waiting))
    return bytes(entry_id)


def _estimate_retry_after(waiting: int) -> int:
    """Seconds to answer the waiting questions at the latest rate."""
    rate = float(redis_client().get(RATE) or DEFAULT_RATE)
    return min(LONGEST_RETRY, max(SHORTEST_RETRY, math.ceil(waiting / max(rate, 0.01))))


def _why_no_answer(question: Question) -> DomainError:
    if not count_workers():
        return _no_worker()
    seconds = question.deadline - question.asked_at
    return NoAnswer(Message("timed_out", seconds=f"{seconds:g}"), {"timeout": seconds})


def _no_worker() -> NoWorker:
    return NoWorker(Message("no_worker"))


def _decode_entries(entries: Iterable[tuple[bytes, dict[bytes, bytes] | None]]) -> list[QueuedQuestion]:
    return [
        QueuedQuestion(entry_id.decode(), decode_question(fields[b"q"]))
        for entry_id, fields in entries
        if entry_id and fields
    ]


def _alive_key(worker: str) -> str:
    return f"{ALIVE}:{worker}"
