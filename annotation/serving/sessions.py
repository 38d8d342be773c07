"""Scoring sessions: a solution that grows over HTTP, kept as text in Redis until nobody has touched it for a while.

All of a session's scores are of one model version, the one that served when it began. What a worker read of the text
it keeps as long as it can; a worker that has not, or no longer, reads it again: the scores are the same.
"""

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import msgspec
import redis
from django.conf import settings
from django.contrib.auth.models import User

from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import find_project
from annotation.loop.gateway.serving import Scored, Text
from annotation.models import ApiToken, ModelVersion, Project
from annotation.serving import line
from annotation.serving.asking import ask, version_of
from annotation.serving.choosing import choose_version
from prm.messages import Message

MOST_STEPS, MOST_CHARS = 512, 400_000


class ScoringSession(msgspec.Struct):
    """`scored` is None as long as there is no step."""

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
    named = None if number is None else ModelVersion.objects.get(pk=version_of(project, number))
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
    _keep(session)
    return session


def find_session(*, by: User, session_id: str) -> ScoringSession:
    """The caller's own session. Raises Missing (`session_not_found`), also where it has expired."""
    with _redis_errors():
        found = line.server().get(_key(session_id))
    session = msgspec.msgpack.decode(found, type=ScoringSession) if found else None
    if session is None or session.user != by.pk:
        raise Missing("session_not_found", Message("session_not_found"))
    find_project(by, session.project)
    return session


def append_steps(
    *, by: User, token: ApiToken | None, session_id: str, steps: Sequence[tuple[str, str]], timeout: float
) -> tuple[str, ScoringSession]:
    """Score further steps; the request's id and the session with them. Nothing is appended where this fails.

    Raises Missing, Conflict (`session_busy`), DomainError (`session_full`) and what `ask` raises.
    """
    with _one_at_a_time(session_id, timeout):
        session = find_session(by=by, session_id=session_id)
        text = Text(session.text.problem, (*session.text.steps, *steps), len(session.text.steps))
        if len(text.steps) > MOST_STEPS or sum(len(step) for step, _ in text.steps) > MOST_CHARS:
            raise DomainError(
                "session_full", Message("session_full", most_steps=MOST_STEPS, most_chars=f"{MOST_CHARS:,}")
            )
        request_id, answer = ask(
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
        _keep(session)
    return request_id, session


def fork_session(*, by: User, session_id: str) -> ScoringSession:
    """A second session at the same place; both go on by themselves. Raises Missing."""
    twin = msgspec.structs.replace(find_session(by=by, session_id=session_id), id=str(uuid.uuid4()))
    _keep(twin)
    return twin


def end_session(*, by: User, session_id: str) -> None:
    """Forget it. Raises Missing."""
    find_session(by=by, session_id=session_id)
    with _redis_errors():
        line.server().delete(_key(session_id))


def _keep(session: ScoringSession) -> None:
    with _redis_errors():
        line.server().set(_key(session.id), msgspec.msgpack.encode(session), ex=settings.SERVING_SESSION_SECONDS)


@contextmanager
def _one_at_a_time(session_id: str, timeout: float) -> Iterator[None]:
    lock = line.server().lock(f"{_key(session_id)}:lock", timeout=timeout + 10, blocking=False)
    with _redis_errors():
        taken = lock.acquire()
    if not taken:
        raise Conflict("session_busy", Message("session_busy"))
    try:
        yield
    finally:
        with _redis_errors():
            lock.release()


@contextmanager
def _redis_errors() -> Iterator[None]:
    try:
        yield
    except redis.RedisError as error:
        raise line.away(error) from error


def _key(session_id: str) -> str:
    return f"serving:session:{session_id}"
