"""Incident review: from a served score to its model, the labels that taught it, and those nearest to its steps."""

from typing import Any

import msgspec
from django.conf import settings
from django.contrib.auth.models import User

from annotation import jobs
from annotation.errors import DomainError
from annotation.membership.access import STAFF, require_role
from annotation.models import ServedScore
from annotation.rounds.gateway.explaining import StepReason, reasons_of
from annotation.rounds.gateway.serving import Text
from annotation.serving import line
from annotation.wording import as_json, from_json, said

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


def ask_for_review(*, by: User, row: ServedScore) -> None:
    """Ask a `score` worker for the reasons of a logged score; a second request changes nothing.

    Raises Forbidden, DomainError (`text_not_kept`, `model_gone`).
    """
    require_role(by, row.project, *STAFF)
    if row.text is None:
        raise DomainError(
            "text_not_kept", said("This project's score log keeps hashes only, so the text is not at hand.")
        )
    if row.model_version is None:
        raise DomainError("model_gone", said("The model that gave this score was deleted."))
    if line.server().set(_key(row), msgspec.json.encode(Review()), nx=True, ex=ASKED_SECONDS):
        jobs.enqueue("serving.review", row.pk, queue="score")


def find_review(row: ServedScore) -> Review | None:
    """None where nobody asked."""
    found = line.server().get(_key(row))
    return msgspec.json.decode(found, type=Review) if found else None


def review(row_id: int) -> None:
    """The worker's part."""
    row = ServedScore.objects.select_related("model_version__run").get(pk=row_id)
    assert row.model_version is not None, "asked for with its model"
    assert row.text is not None, "asked for with its text"
    found = Review()
    try:
        run = getattr(row.model_version, "run", None)
        if run is None:
            raise DomainError("no_explanation", said("This model was not trained here, so its labels are not at hand."))
        found.reasons = reasons_of(row.model_version, text_of(row), settings.RUN_ROOT / str(run.pk) / "train.jsonl")
        found.failure = "" if found.reasons else as_json(said("No step of it fits the model's context."))
    except DomainError as error:
        found.failure = as_json(error.message)
    line.server().set(_key(row), msgspec.json.encode(found), ex=KEPT_SECONDS)


def text_of(row: ServedScore) -> Text:
    """The logged text; raises ValueError where it was not kept."""
    given: Any = row.text
    if given is None:
        raise ValueError("the text was not kept")
    problem, steps = given
    return Text(problem, tuple((text, kind) for text, kind in steps))


def _key(row: ServedScore) -> str:
    return f"serving:review:{row.pk}"
