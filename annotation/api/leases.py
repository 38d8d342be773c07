"""A lease in hand: heartbeat, skip, draft, the model's score of a step."""

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
from annotation.core.bounds import LARGEST_INTEGER, JSONObject, Note, Position
from annotation.work.labelling.drafts import save_draft
from annotation.work.labelling.seen_hints import find_score
from annotation.work.queue import leases


class Expiry(msgspec.Struct):
    expires_at: datetime


class Skip(msgspec.Struct):
    reason: Note = ""


class DraftToSave(msgspec.Struct):
    version: Annotated[
        int,
        Meta(ge=0, le=LARGEST_INTEGER - 1, description="The stored version that the page has seen, 0 for none."),
    ]
    body: JSONObject
    based_on: Annotated[Position, Meta(description="The own revision that is being revised, 0 for none.")] = 0


class SavedDraft(msgspec.Struct):
    version: Annotated[int, Meta(ge=1)]
    saved_at: datetime


class HintScoreOfStep(msgspec.Struct):
    score: Annotated[float, Meta(description="How likely the model takes the step to be right.")]


class Heartbeat(APIView):
    """Keep a lease."""

    @extend_schema(operation_id="heartbeat", request=None, responses=Expiry)
    def post(self, request: Request, lease_id: int) -> Response:
        """Extend the lease to its full time from now."""
        return Response(Expiry(leases.heartbeat(by=caller(request), lease_id=lease_id)))


class Release(APIView):
    """Skip a solution."""

    @extend_schema(operation_id="release", request=Skip, responses={204: None})
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the solution back, also late; it does not come to the caller again. A second time changes nothing.

        409 `lease_ended` where the caller has handed it in: that stands.
        """
        leases.release(by=caller(request), lease_id=lease_id, reason=read_body(request, Skip).reason)
        return Response(status=204)


class DraftOfLease(APIView):
    """Unsubmitted work."""

    @extend_schema(operation_id="save_draft", request=DraftToSave, responses=SavedDraft)
    def put(self, request: Request, lease_id: int) -> Response:
        """Store the draft. 409 `draft_conflict` where another tab has saved since: `extra` holds its draft."""
        body = read_body(request, DraftToSave)
        draft = save_draft(by=caller(request), lease_id=lease_id, **msgspec.structs.asdict(body))
        return Response(SavedDraft(draft.version, draft.saved_at))


class HintScore(APIView):
    """The model's score of one step."""

    @extend_schema(operation_id="get_hint_score", responses=HintScoreOfStep)
    def get(self, request: Request, lease_id: int, position: int) -> Response:
        """The score of the step at a position, for the holder of a lease with a hint; ask when it comes into sight.

        404 `hint_not_found` if the lease has no hint or the step no score, 403 `lease_of_another`, 409 `lease_ended`
        after a skip.
        """
        return Response(HintScoreOfStep(find_score(by=caller(request), lease_id=lease_id, position=position)))
