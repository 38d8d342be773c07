"""The web process's side of scoring: check a request, count it, enqueue it, wait for the answer."""

import time
import uuid
from collections.abc import Sequence
from threading import BoundedSemaphore

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection

from annotation.core.errors import DomainError, Missing
from annotation.loop.gateway.serving_model import Text
from annotation.models import ApiToken, ModelVersion, Project
from annotation.serving import quotas, request_queue
from annotation.serving.messages import Answer, Failure, Kind, Question, Route
from prm.messages import Message

_seats = BoundedSemaphore(settings.SERVING_SEATS)  # threads of this process that may wait for answers


class Failed(DomainError):
    """The failure that the worker reported."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message, dict(failure.extra), code=failure.code)
        self.status = failure.status


def ask_worker(
    *,
    by: User,
    token: ApiToken | None,
    project: Project,
    kind: Kind = "score",
    route: Route = "score",
    texts: Sequence[Text],
    ids: Sequence[Sequence[int]] = (),
    domain: str,
    number: int | None,
    aggregate: str = "product",
    timeout: float,
) -> tuple[str, Answer]:
    """The request's id and a worker's answer; `number` names a model version of the project.

    Raises Missing (`model_not_found`), DomainError (`larger_than_quota`), QuotaMet, Overloaded, NoAnswer, NoWorker,
    Failed.
    """
    question = Question(
        id=str(uuid.uuid4()),
        kind=kind,
        route=route,
        project=project.pk,
        user=by.pk,
        token=token.pk if token else None,
        domain=domain,
        version=None if number is None else find_version_id(project, number),
        aggregate=aggregate,
        texts=list(texts),
        ids=[list(token_ids) for token_ids in ids],
        asked_at=time.time(),
        deadline=time.time() + timeout,
    )
    steps = sum(len(text.steps) - text.known for text in texts) or len(ids)
    with request_queue.redis_needed():
        quotas.spend(token, project, steps=steps)
    answer = _wait_in_seat(question)
    if answer.failure is not None:
        raise Failed(answer.failure)
    return question.id, answer


def _wait_in_seat(question: Question) -> Answer:
    if not _seats.acquire(blocking=False):
        raise request_queue.Overloaded(settings.SERVING_SEATS, request_queue.SHORTEST_RETRY)
    try:
        if not connection.in_atomic_block:
            connection.close()  # back to the pool: pages need it while this thread waits
        return request_queue.wait_for_answer(question)
    finally:
        _seats.release()


def find_version_id(project: Project, number: int) -> int:
    """The id of the version with this number; raises Missing (`model_not_found`)."""
    version_id = ModelVersion.objects.filter(project=project, number=number).values_list("pk", flat=True).first()
    if version_id is None:
        raise Missing(
            Message("no_such_model_number", number=number, name=project.name),
            {"field": "model"},
            code="model_not_found",
        )
    return version_id
