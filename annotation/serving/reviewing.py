"""Why a model gives a text its scores: the labels that taught it and are nearest to each step.

A worker of the `score` queue answers, for a logged score and for a solution of the project alike. What it found is
kept for a day under the model and the text.
"""

from typing import Any

import msgspec
import redis
from django.conf import settings
from django.contrib.auth.models import User

from annotation.core import jobs
from annotation.core.errors import DomainError
from annotation.core.membership.access import STAFF, require_role
from annotation.loop.gateway.explaining import StepReason, reasons_of
from annotation.loop.gateway.serving import Text
from annotation.models import ModelVersion, ServedScore, Solution
from annotation.serving import line
from annotation.serving.journal import text_hash
from prm.messages import Message, as_json, from_json

KEPT_SECONDS, ASKED_SECONDS = 86_400, 600


class Review(msgspec.Struct):
    """`failure` says why there are no reasons, as `as_json` gives it; without either the worker is still at it."""

    reasons: list[StepReason] = []
    failure: str | dict[str, Any] = ""

    @property
    def done(self) -> bool:
        return bool(self.reasons or self.failure)

    @property
    def why_not(self) -> str:
        return from_json(self.failure)


def ask_for_review(*, by: User, version: ModelVersion, text: Text) -> None:
    """Ask a `score` worker for the reasons of a model's scores; a second request changes nothing.

    Raises Forbidden, NoWorker.
    """
    require_role(by, version.project, *STAFF)
    try:
        asked = line.server().set(_key(version, text), msgspec.json.encode(Review()), nx=True, ex=ASKED_SECONDS)
    except redis.RedisError as error:
        raise line.away(error) from error
    if asked:
        jobs.enqueue("serving.review", version.pk, text.problem, text.steps, queue="score")


def ask_for_review_of_row(*, by: User, row: ServedScore) -> None:
    """The same for a logged score. Raises also DomainError (`text_not_kept`, `model_gone`)."""
    if row.text is None:
        raise DomainError("text_not_kept", Message("text_not_kept"))
    if row.model_version is None:
        raise DomainError("model_gone", Message("model_gone"))
    ask_for_review(by=by, version=row.model_version, text=text_of(row))


def find_review(version: ModelVersion, text: Text) -> Review | None:
    """None where nobody asked, or Redis does not answer."""
    try:
        found = line.server().get(_key(version, text))
    except redis.RedisError:
        return None
    return msgspec.json.decode(found, type=Review) if found else None


def review(version_id: int, text: Text) -> None:
    """The worker's part."""
    version = ModelVersion.objects.select_related("run").get(pk=version_id)
    found = Review()
    try:
        run = getattr(version, "run", None)
        if run is None:
            raise DomainError("no_explanation", Message("explanation_of_foreign_model"))
        found.reasons = reasons_of(version, text, settings.RUN_ROOT / str(run.pk) / "train.jsonl")
        found.failure = "" if found.reasons else as_json(Message("no_step_fits_context"))
    except DomainError as error:
        found.failure = as_json(error.message)
    line.server().set(_key(version, text), msgspec.json.encode(found), ex=KEPT_SECONDS)


def text_of(row: ServedScore) -> Text:
    """The logged text; raises ValueError where it was not kept."""
    given: Any = row.text
    if given is None:
        raise ValueError("the text was not kept")
    problem, steps = given
    return Text(problem, tuple((text, kind) for text, kind in steps))


def text_of_solution(solution: Solution) -> Text:
    """The solution as the pool's scores read it: the sampled steps, without alternatives."""
    steps = [step for step in solution.steps.all() if step.alternative == 0]
    return Text(solution.problem.text, tuple((step.text, str(step.kind)) for step in steps))


def _key(version: ModelVersion, text: Text) -> str:
    return f"serving:review:{version.pk}:{text_hash(text)}"
