"""Explains a text's scores by the training labels nearest to each step.

A worker of the `score` queue finds them, for logged scores and for the project's solutions. Redis caches the result
for a day under the model and the text.
"""

from typing import Any

import msgspec
import redis
from django.contrib.auth.models import User

from annotation.core import jobs, storage
from annotation.core.errors import DomainError
from annotation.core.membership.access import STAFF, require_role
from annotation.core.wording import as_message, read_message
from annotation.loop.gateway.near_labels import StepReason, reasons_of
from annotation.loop.gateway.serving_model import Text
from annotation.loop.rounds.artefacts import run_key
from annotation.models import ModelVersion, ServedScore, Solution
from annotation.serving import request_queue
from annotation.serving.journal import text_hash
from prm.messages import Message, as_json

REVIEW_SECONDS, REQUEST_SECONDS = 86_400, 600  # after which a review, or a request for one, expires


class Review(msgspec.Struct):
    """The reasons, or the `failure` to find them; without either, the worker is not done."""

    reasons: list[StepReason] = []
    failure: Message | None = None

    @property
    def done(self) -> bool:
        return bool(self.reasons or self.failure)


def request_review(*, by: User, version: ModelVersion, text: Text) -> None:
    """Ask a `score` worker for the reasons of a model's scores; a second request changes nothing.

    Raises Forbidden, NoWorker.
    """
    require_role(by, version.project, *STAFF)
    with request_queue.redis_needed():
        is_new = request_queue.redis_client().set(
            _key(version, text), msgspec.json.encode(Review()), nx=True, ex=REQUEST_SECONDS
        )
    if is_new:
        jobs.enqueue("serving.review", version.pk, text.problem, text.steps, queue="score")


def request_review_of_row(*, by: User, row: ServedScore) -> None:
    """As `request_review`, for a logged score. Also raises DomainError (`text_not_kept`, `model_gone`)."""
    if row.text is None:
        raise DomainError(Message("text_not_kept"))
    if row.model_version is None:
        raise DomainError(Message("model_gone"))
    request_review(by=by, version=row.model_version, text=text_of(row))


def find_review(version: ModelVersion, text: Text) -> Review | None:
    """The cached review, or None if nobody requested one or Redis does not answer."""
    try:
        stored = request_queue.redis_client().get(_key(version, text))
    except redis.RedisError:
        return None
    return msgspec.json.decode(stored, type=Review, dec_hook=read_message) if stored else None


def review(version_id: int, text: Text) -> None:
    """Find the reasons and cache them. Runs in a worker."""
    version = ModelVersion.objects.select_related("run").get(pk=version_id)
    outcome = Review()
    try:
        run = getattr(version, "run", None)
        if run is None:
            raise DomainError(Message("explanation_of_foreign_model"), code="no_explanation")
        training = storage.fetch(run_key(run), "train.jsonl") / "train.jsonl"
        outcome.reasons = reasons_of(version, text, training)
        outcome.failure = None if outcome.reasons else Message("no_step_fits_context")
    except DomainError as error:
        outcome.failure = as_message(error.message)
    request_queue.redis_client().set(
        _key(version, text), msgspec.json.encode(outcome, enc_hook=as_json), ex=REVIEW_SECONDS
    )


def text_of(row: ServedScore) -> Text:
    """The logged text. Raises ValueError if the log did not store it."""
    logged: Any = row.text
    if logged is None:
        raise ValueError("the log did not store the text")
    problem, steps = logged
    return Text(problem, tuple((text, kind) for text, kind in steps))


def text_of_solution(solution: Solution) -> Text:
    """The solution as pool scoring reads it."""
    return Text(solution.problem.text, tuple((step.text, str(step.kind)) for step in solution.sampled_steps))


def _key(version: ModelVersion, text: Text) -> str:
    return f"serving:review:{version.pk}:{text_hash(text)}"
