"""Scoring while an answer is being written: a session to which steps are appended."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.scores import LONGEST_TIMEOUT, TIMEOUT, Asked, SolutionScoreSerializer, presented
from annotation.api.texts import LONGEST_TEXT, StepField
from annotation.core.membership.access import find_project
from annotation.loop.gateway.serving_model import AGGREGATES
from annotation.serving import sessions
from annotation.serving.sessions import ScoringSession

MOST_AT_ONCE = 64


class BeginSessionSerializer(Asked):
    """What a session begins with; every score in it is of the model that is chosen now."""

    problem = serializers.CharField(max_length=LONGEST_TEXT, trim_whitespace=False)
    timeout = None  # type: ignore[assignment]


class AppendStepsSerializer(serializers.Serializer):
    """The next steps, in order."""

    steps = serializers.ListField(child=StepField(), min_length=1, max_length=MOST_AT_ONCE)
    timeout = serializers.FloatField(default=TIMEOUT, min_value=0.1, max_value=LONGEST_TIMEOUT, help_text="Seconds.")


class ScoringSessionSerializer(serializers.Serializer):
    """A session so far."""

    id = serializers.UUIDField()
    project = serializers.SlugField()
    model = serializers.IntegerField(help_text="Number of the model version that scores all of it.")
    aggregate = serializers.ChoiceField(AGGREGATES)
    step_count = serializers.IntegerField()
    result = SolutionScoreSerializer(allow_null=True, help_text="Scores of all steps so far; null before the first.")


class AppendedSerializer(ScoringSessionSerializer):
    request_id = serializers.UUIDField(help_text="Finds these scores in the score log.")


class ScoringSessions(APIView):
    """Beginning a session."""

    asks_a_worker = True

    @extend_schema(
        operation_id="begin_scoring_session", request=BeginSessionSerializer, responses={201: ScoringSessionSerializer}
    )
    def post(self, request: Request) -> Response:
        """Begin a session. It is forgotten an hour after it was last used."""
        given = BeginSessionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        said = given.validated_data
        session = sessions.begin_session(
            by=caller(request),
            project=find_project(request.user, said["project"]),
            problem=said["problem"],
            domain=said["domain"],
            number=said.get("model"),
            aggregate=said["aggregate"],
        )
        return Response(_presented(session), status=201)


class ScoringSessionDetail(APIView):
    """One session of the caller's."""

    asks_a_worker = True

    @extend_schema(operation_id="get_scoring_session", responses=ScoringSessionSerializer)
    def get(self, request: Request, session_id: UUID) -> Response:
        """The scores so far."""
        return Response(_presented(sessions.find_session(by=caller(request), session_id=str(session_id))))

    @extend_schema(operation_id="end_scoring_session", responses={204: None})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Forget the session."""
        sessions.end_session(by=caller(request), session_id=str(session_id))
        return Response(status=204)


class AppendSteps(APIView):
    """Growing a session."""

    asks_a_worker = True

    @extend_schema(operation_id="append_steps", request=AppendStepsSerializer, responses=AppendedSerializer)
    def post(self, request: Request, session_id: UUID) -> Response:
        """Append steps and score them; nothing is appended where this fails."""
        given = AppendStepsSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        request_id, session = sessions.append_steps(
            by=caller(request),
            token=token_of(request),
            session_id=str(session_id),
            steps=given.validated_data["steps"],
            timeout=given.validated_data["timeout"],
        )
        return Response(_presented(session) | {"request_id": request_id})


class ForkSession(APIView):
    """Branching a session, as a beam search does."""

    asks_a_worker = True

    @extend_schema(operation_id="fork_scoring_session", request=None, responses={201: ScoringSessionSerializer})
    def post(self, request: Request, session_id: UUID) -> Response:
        """A second session at the same place; what was read so far is shared."""
        session = sessions.fork_session(by=caller(request), session_id=str(session_id))
        return Response(_presented(session), status=201)


def _presented(session: ScoringSession) -> dict[str, Any]:
    return {
        "id": session.id,
        "project": session.project,
        "model": session.model,
        "aggregate": session.aggregate,
        "step_count": len(session.text.steps),
        "result": None if session.scored is None else presented(session.scored),
    }
