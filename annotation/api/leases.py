"""An active lease: heartbeat, skip, draft, the model's score of a step."""

from datetime import datetime
from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.core.bounds import LARGEST_INTEGER, JSONObject, Note, Position, about
from annotation.work.labelling.drafts import save_draft
from annotation.work.labelling.seen_hints import find_score
from annotation.work.queue import leases


class Expiry(msgspec.Struct):
    expires_at: datetime


class Skip(msgspec.Struct):
    reason: Annotated[Note, about("The reason in words; empty for none.")] = ""


class DraftToSave(msgspec.Struct):
    version: Annotated[
        int,
        Meta(ge=0, le=LARGEST_INTEGER - 1, description="The latest stored version that the page knows; 0 for none."),
    ]
    body: Annotated[JSONObject, about("The draft as the client saved it; the server does not read it.")]
    based_on: Annotated[Position, about("The caller's revision that this draft revises; 0 for none.")] = 0


class SavedDraft(msgspec.Struct):
    version: Annotated[int, Meta(ge=1), about("The version of the draft, which the next save names.")]
    saved_at: Annotated[datetime, about("When it was saved.")]


class HintScoreOfStep(msgspec.Struct):
    score: Annotated[float, about("The model's probability that the step is correct.")]


class Heartbeat(APIView):
    """Keep a lease."""

    scopes = {"POST": "claim"}

    @extend_schema(operation_id="heartbeat", request=None, responses=Expiry)
    def post(self, request: Request, lease_id: int) -> Response:
        """Extend the lease to its full time from now."""
        return Response(Expiry(leases.heartbeat(by=caller(request), lease_id=lease_id)))


class Release(APIView):
    """Skip a solution."""

    scopes = {"POST": "claim"}

    @extend_schema(operation_id="release", request=Skip, responses={204: None})
    def post(self, request: Request, lease_id: int) -> Response:
        """Return the solution, even after the lease has expired. The caller does not get it again. Idempotent.

        Returns 409 `lease_ended` if the caller has submitted the solution.
        """
        leases.release(by=caller(request), lease_id=lease_id, reason=read_body(request, Skip).reason)
        return Response(status=204)


class DraftOfLease(APIView):
    """Unsubmitted work."""

    scopes = {"PUT": "claim"}

    @extend_schema(operation_id="save_draft", request=DraftToSave, responses=SavedDraft)
    def put(self, request: Request, lease_id: int) -> Response:
        """Store the draft. Returns 409 `draft_conflict` if another tab has saved since; `extra` holds that draft."""
        body = read_body(request, DraftToSave)
        draft = save_draft(by=caller(request), lease_id=lease_id, **msgspec.structs.asdict(body))
        return Response(SavedDraft(draft.version, draft.saved_at))


class HintScore(APIView):
    """The model's score of one step."""

    scopes = {"GET": "claim"}

    @extend_schema(operation_id="get_hint_score", responses=HintScoreOfStep)
    def get(self, request: Request, lease_id: int, position: int) -> Response:
        """The score of one step, for the holder of a lease with a hint. Request it when the step becomes visible.

        Returns 404 `hint_not_found` if the lease has no hint or the step no score, 403 `lease_of_another`, and 409
        `lease_ended` after a skip.
        """
        return Response(HintScoreOfStep(find_score(by=caller(request), lease_id=lease_id, position=position)))
