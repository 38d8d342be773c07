"""The line of questions: a Redis stream, read by one group of workers; each answer has a key of its own.

A question stays on the stream until it is answered and logged, so one that a dying worker had taken is taken up by
the next. Length and age of the stream say how busy the workers are.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import redis
from django.conf import settings

from annotation.core.errors import DomainError
from annotation.serving.messages import Answer, Question, decode_answer, decode_question, encode
from prm.messages import Message

STREAM, GROUP = "serving:line", "score"
RATE, ALIVE = "serving:rate", "serving:alive"
ANSWER_SECONDS = 60  # an answer that nobody fetched is forgotten
ALIVE_SECONDS = 4
SOCKET_SECONDS = 65  # above the longest wait for an answer
SHORTEST_RETRY, LONGEST_RETRY = 1, 60
SPEED_UNKNOWN = 10.0  # questions a second, before anything was measured

# What no worker has taken yet tells how late the line is: what is taken stays on it until it is logged.
_JOIN = """
local waiting = redis.call('XLEN', KEYS[1])
local taken = nil
local groups = redis.pcall('XINFO', 'GROUPS', KEYS[1])
if not groups.err and groups[1] then
  for i = 1, #groups[1], 2 do
    if groups[1][i] == 'last-delivered-id' then taken = groups[1][i + 1] end
  end
end
local first = redis.call('XRANGE', KEYS[1], taken and '(' .. taken or '-', '+', 'COUNT', 1)
local age = 0
if first[1] then
  age = redis.call('TIME')[1] - math.floor(tonumber(string.match(first[1][1], '^%d+')) / 1000)
end
if waiting >= tonumber(ARGV[2]) or age > tonumber(ARGV[3]) then return {waiting, age, false} end
return {waiting, age, redis.call('XADD', KEYS[1], '*', 'q', ARGV[1])}
"""


class Overloaded(DomainError):
    """More waits than can be answered in time; `wait` is in seconds."""

    status = 429

    def __init__(self, waiting: int, wait: int) -> None:
        self.wait = wait
        super().__init__(
            "overloaded", Message("overloaded", n=waiting, wait=wait), {"waiting": waiting, "retry_after": wait}
        )


class NoAnswer(DomainError):
    """The answer did not come in time."""

    status = 504


class NoWorker(DomainError):
    """No worker of the score queue runs, or Redis does not answer."""

    status = 503
    wait = 5


@dataclass(frozen=True)
class Place:
    """A question's place on the line: its id there, and the question."""

    at: str
    question: Question


@lru_cache(maxsize=1)
def server() -> Any:
    """A client that threads share; a connection is taken for each call."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=3, socket_timeout=SOCKET_SECONDS)


def ask(question: Question) -> Answer:
    """Join the line and wait. Raises Overloaded, NoAnswer, NoWorker."""
    try:
        place = _join(question)
        found = server().blpop([_answer_key(question.id)], timeout=max(0.01, question.deadline - question.asked_at))
        if found is None:
            server().xdel(STREAM, place)
            raise _silence(question)
    except redis.RedisError as error:
        raise away(error) from error
    return decode_answer(found[1])


def away(error: redis.RedisError) -> NoWorker:
    return NoWorker("redis_away", Message("redis_away", error=error))


def alive() -> int:
    """How many workers say that they are there."""
    return len(list(server().scan_iter(match=_alive_key("*"), count=1000)))


def waiting() -> int:
    return int(server().xlen(STREAM))


def join_group(worker: str) -> None:
    """Be one of the workers that read the line; done again after Redis lost its memory."""
    try:
        server().xgroup_create(STREAM, GROUP, id="0", mkstream=True)
    except redis.ResponseError as error:
        if "BUSYGROUP" not in str(error):
            raise
    say_alive(worker)


def say_alive(worker: str) -> None:
    server().set(_alive_key(worker), 1, ex=ALIVE_SECONDS)


def leave_group(worker: str) -> None:
    """What the worker took and did not answer is taken by another at once."""
    server().delete(_alive_key(worker))


def take(worker: str, *, most: int, seconds: float) -> list[Place]:
    """What waits now, at most `most`; where nothing does, the first to come within `seconds`."""
    found = server().xreadgroup(GROUP, worker, {STREAM: ">"}, count=most, block=max(1, int(seconds * 1000)))
    return [place for _, entries in found or [] for place in _places(entries)]


def take_over(worker: str) -> list[Place]:
    """What workers took that are no longer alive, and did not answer."""
    found: list[Place] = []
    for consumer in server().xinfo_consumers(STREAM, GROUP):
        name = consumer["name"].decode()
        if name == worker or server().exists(_alive_key(name)):
            continue
        pending = server().xpending_range(STREAM, GROUP, "-", "+", 1000, consumername=name)
        ids = [entry["message_id"] for entry in pending]
        if ids:
            found += _places(server().xclaim(STREAM, GROUP, worker, min_idle_time=500, message_ids=ids))
        else:
            server().xgroup_delconsumer(STREAM, GROUP, name)
    return found


def answer(answers: Iterable[tuple[Question, Answer]]) -> None:
    with server().pipeline(transaction=False) as pipe:
        for question, said in answers:
            pipe.rpush(_answer_key(question.id), encode(said))
            pipe.expire(_answer_key(question.id), ANSWER_SECONDS)
        pipe.execute()


def forget(places: Iterable[str]) -> None:
    """Take answered and logged questions off the line."""
    with server().pipeline(transaction=False) as pipe:
        for at in places:
            pipe.xack(STREAM, GROUP, at)
            pipe.xdel(STREAM, at)
        pipe.execute()


def tell_rate(questions_per_second: float) -> None:
    """What a busy worker gets done, for the estimate of Retry-After."""
    server().set(RATE, f"{questions_per_second:.4f}", ex=3600)


def _join(question: Question) -> bytes:
    limits = (settings.SERVING_MOST_WAITING, settings.SERVING_LONGEST_WAIT)
    ahead, age, place = server().eval(_JOIN, 1, STREAM, encode(question), *limits)
    if place is None:
        if age > settings.SERVING_LONGEST_WAIT and not alive():
            raise _no_worker()
        raise Overloaded(ahead, _retry_after(ahead))
    return bytes(place)


def _retry_after(ahead: int) -> int:
    """How long it takes to answer what waits, at the rate of late; seconds."""
    rate = float(server().get(RATE) or SPEED_UNKNOWN)
    return min(LONGEST_RETRY, max(SHORTEST_RETRY, math.ceil(ahead / max(rate, 0.01))))


def _silence(question: Question) -> DomainError:
    if not alive():
        return _no_worker()
    seconds = question.deadline - question.asked_at
    return NoAnswer("timed_out", Message("timed_out", seconds=f"{seconds:g}"), {"timeout": seconds})


def _no_worker() -> NoWorker:
    return NoWorker("no_worker", Message("no_worker"))


def _places(entries: Iterable[tuple[bytes, dict[bytes, bytes] | None]]) -> list[Place]:
    return [Place(at.decode(), decode_question(fields[b"q"])) for at, fields in entries if at and fields]


def _answer_key(question: str) -> str:
    return f"serving:answer:{question}"


def _alive_key(worker: str) -> str:
    return f"{ALIVE}:{worker}"
