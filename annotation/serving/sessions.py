"""Scoring sessions: solutions that grow step by step over HTTP. Redis stores their text until they have been idle.

One model version, the one that served when the session began, gives all its scores. A worker caches what it has read;
a worker without the cached prefix reads the text again, with the same scores.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

import msgspec
from django.conf import settings
from django.contrib.auth.models import User
from redis.exceptions import LockNotOwnedError
from redis.lock import Lock

from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import find_project
from annotation.loop.gateway.serving_model import Text
from annotation.loop.registry import choose_version
from annotation.models import ApiToken, ModelVersion, Project
from annotation.serving import request_queue
from annotation.serving.scoring_requests import ask_worker, find_version_id
from prm.messages import Message
from prm.trust import Scored

MOST_STEPS, MOST_CHARS = 512, 400_000
SAVING_SECONDS = 10  # the lock's time beyond the timeout of the question


class ScoringSession(msgspec.Struct):
    """`scored` is None until the first step."""

    id: str
    project: str
    user: int
    domain: str
    model: int
    aggregate: str
    text: Text
    scored: Scored | None = None


def begin_session(
    *, by: User, project: Project, problem: str, domain: str = "", number: int | None = None, aggregate: str = "product"
) -> ScoringSession:
    """An empty session of the champion, or of the version `number`.

    Raises Missing, NoWorker, and what `choose_version` raises.
    """
    named = None if number is None else ModelVersion.objects.get(pk=find_version_id(project, number))
    version = choose_version(project, domain=domain, named=named)
    session = ScoringSession(
        id=str(uuid.uuid4()),
        project=project.slug,
        user=by.pk,
        domain=domain,
        model=version.number,
        aggregate=aggregate,
        text=Text(problem, ()),
    )
    _save_session(session)
    return session


def find_session(*, by: User, session_id: str) -> ScoringSession:
    """The caller's own session. Raises Missing (`session_not_found`), also if it has expired."""
    with request_queue.redis_needed():
        stored = request_queue.redis_client().get(_key(session_id))
    session = msgspec.msgpack.decode(stored, type=ScoringSession) if stored else None
    if session is None or session.user != by.pk:
        raise Missing(Message("session_not_found"))
    find_project(by, session.project)
    return session


def append_steps(
    *, by: User, token: ApiToken | None, session_id: str, steps: Sequence[tuple[str, str]], timeout: float
) -> tuple[str, ScoringSession]:
    """Score and append steps; returns the request's id and the session. On failure nothing is appended.

    Raises Missing, Conflict (`session_busy`, `session_lock_expired`), DomainError (`session_full`) and what
    `ask_worker` raises.
    """
    with _lock_session(session_id, timeout) as lock:
        session = find_session(by=by, session_id=session_id)
        text = Text(session.text.problem, (*session.text.steps, *steps), len(session.text.steps))
        if len(text.steps) > MOST_STEPS or sum(len(step) for step, _ in text.steps) > MOST_CHARS:
            raise DomainError(Message("session_full", most_steps=MOST_STEPS, most_chars=f"{MOST_CHARS:,}"))
        request_id, answer = ask_worker(
            by=by,
            token=token,
            project=find_project(by, session.project),
            kind="append",
            route="session",
            texts=[text],
            domain=session.domain,
            number=session.model,
            aggregate=session.aggregate,
            timeout=timeout,
        )
        session.text, session.scored = Text(text.problem, text.steps), answer.results[0]
        _extend(lock)
        _save_session(session)
    return request_id, session


def fork_session(*, by: User, session_id: str) -> ScoringSession:
    """A copy of the session that continues independently. Raises Missing."""
    copy = msgspec.structs.replace(find_session(by=by, session_id=session_id), id=str(uuid.uuid4()))
    _save_session(copy)
    return copy


def end_session(*, by: User, session_id: str) -> None:
    """Delete the session. Raises Missing."""
    find_session(by=by, session_id=session_id)
    with request_queue.redis_needed():
        request_queue.redis_client().delete(_key(session_id))


def _save_session(session: ScoringSession) -> None:
    with request_queue.redis_needed():
        request_queue.redis_client().set(
            _key(session.id), msgspec.msgpack.encode(session), ex=settings.SERVING_SESSION_SECONDS
        )


@contextmanager
def _lock_session(session_id: str, timeout: float) -> Iterator[Lock]:
    name, seconds = f"{_key(session_id)}:lock", timeout + SAVING_SECONDS
    lock = request_queue.redis_client().lock(name, timeout=seconds, blocking=False)
    with request_queue.redis_needed():
        acquired = lock.acquire()
    if not acquired:
        raise Conflict(Message("session_busy"))
    try:
        yield lock
    finally:
        with request_queue.redis_needed(), suppress(LockNotOwnedError):
            lock.release()


def _extend(lock: Lock) -> None:
    """Keep the lock until the session is saved. Raises Conflict (`session_lock_expired`): another step may have it."""
    with request_queue.redis_needed():
        try:
            lock.extend(SAVING_SECONDS, replace_ttl=True)
        except LockNotOwnedError:
            raise Conflict(Message("session_lock_expired")) from None


def _key(session_id: str) -> str:
    return f"serving:session:{session_id}"
