"""A lease in hand: heartbeat, skip, draft, the model's score of a step."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.annotations import LONGEST_TEXT
from annotation.api.authentication import caller
from annotation.api.fields import JSONObjectField
from annotation.work.labelling.drafts import save_draft
from annotation.work.labelling.seen_hints import find_score
from annotation.work.queue import leases


class ExpirySerializer(serializers.Serializer):
    expires_at = serializers.DateTimeField()


class ReleaseSerializer(serializers.Serializer):
    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST_TEXT)


class DraftSerializer(serializers.Serializer):
    version = serializers.IntegerField(
        min_value=0, max_value=2**31 - 2, help_text="The stored version that the page has seen, 0 for none."
    )
    body = JSONObjectField()
    based_on = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="The own revision that is being revised, 0 for none.",
    )


class SavedDraftSerializer(serializers.Serializer):
    version = serializers.IntegerField(min_value=1)
    saved_at = serializers.DateTimeField()


class HintScoreSerializer(serializers.Serializer):
    score = serializers.FloatField(help_text="How likely the model takes the step to be right.")


class Heartbeat(APIView):
    """Keep a lease."""

    @extend_schema(operation_id="heartbeat", request=None, responses=ExpirySerializer)
    def post(self, request: Request, lease_id: int) -> Response:
        """Extend the lease to its full time from now."""
        return Response({"expires_at": leases.heartbeat(by=caller(request), lease_id=lease_id)})


class Release(APIView):
    """Skip a solution."""

    @extend_schema(operation_id="release", request=ReleaseSerializer, responses={204: None})
    def post(self, request: Request, lease_id: int) -> Response:
        """Give the solution back, also late; it does not come to the caller again. A second time changes nothing.

        409 `lease_ended` where the caller has handed it in: that stands.
        """
        given = ReleaseSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        leases.release(by=caller(request), lease_id=lease_id, reason=given.validated_data["reason"])
        return Response(status=204)


class DraftOfLease(APIView):
    """Unsubmitted work."""

    @extend_schema(operation_id="save_draft", request=DraftSerializer, responses=SavedDraftSerializer)
    def put(self, request: Request, lease_id: int) -> Response:
        """Store the draft. 409 `draft_conflict` where another tab has saved since: `extra` holds its draft."""
        given = DraftSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        draft = save_draft(by=caller(request), lease_id=lease_id, **given.validated_data)
        return Response({"version": draft.version, "saved_at": draft.saved_at})


class HintScore(APIView):
    """The model's score of one step."""

    @extend_schema(operation_id="get_hint_score", responses=HintScoreSerializer)
    def get(self, request: Request, lease_id: int, position: int) -> Response:
        """The score of the step at a position, for the holder of a lease with a hint; ask when it comes into sight.

        404 `hint_not_found` if the lease has no hint or the step no score, 403 `lease_of_another`, 409 `lease_ended`
        after a skip.
        """
        return Response({"score": find_score(by=caller(request), lease_id=lease_id, position=position)})
