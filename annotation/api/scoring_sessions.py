"""Scoring sessions: steps are appended and scored while an answer is being written."""

from typing import Annotated, Any, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller, token_of
from annotation.api.boundary import Row, read_body
from annotation.api.scores import TIMEOUT, Aggregate, Domain, ProjectSlug, SolutionScore, Timeout, VersionNumber
from annotation.api.texts import AnyStep, LongText, steps_of
from annotation.core.bounds import Count, about
from annotation.core.membership.access import find_project
from annotation.serving import sessions

MOST_AT_ONCE = 64


class SessionToBegin(msgspec.Struct):
    """The start of a session. The model chosen now scores the whole session."""

    project: ProjectSlug
    problem: LongText
    domain: Domain = ""
    model: VersionNumber = None
    aggregate: Aggregate = "product"


class StepsToAppend(msgspec.Struct):
    """The next steps, in order."""

    steps: Annotated[list[AnyStep], Meta(min_length=1, max_length=MOST_AT_ONCE), about("The steps, in order.")]
    timeout: Timeout = TIMEOUT


class SessionSoFar(Row):
    """A session so far."""

    id: Annotated[UUID, about("The id of the session.")]
    project: str
    model: Annotated[int, about("Number of the model that scores the session.")]
    aggregate: Aggregate
    step_count: Annotated[Count, about("Number of steps.")]
    result: Annotated[SolutionScore | None, about("Scores of all steps so far; null before the first step.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        result = row.scored and SolutionScore.of(row.scored)
        return cls(
            id=row.id,
            project=row.project,
            model=row.model,
            aggregate=row.aggregate,
            step_count=len(row.text.steps),
            result=result,
            **others,
        )


class GrownSession(SessionSoFar):
    request_id: Annotated[UUID, about("The key of these scores in the score log.")]


class ScoringSessions(APIView):
    """Starting a session."""

    scopes = {"POST": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="begin_scoring_session", request=SessionToBegin, responses={201: SessionSoFar})
    def post(self, request: Request) -> Response:
        """Start a session. It expires an hour after its last use."""
        body = read_body(request, SessionToBegin)
        session = sessions.begin_session(
            by=caller(request),
            project=find_project(request.user, body.project),
            problem=body.problem,
            domain=body.domain,
            number=body.model,
            aggregate=body.aggregate,
        )
        return Response(SessionSoFar.of(session), status=201)


class ScoringSessionDetail(APIView):
    """One session of the caller's."""

    scopes = {"GET": "score", "DELETE": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="get_scoring_session", responses=SessionSoFar)
    def get(self, request: Request, session_id: UUID) -> Response:
        """The scores so far."""
        return Response(SessionSoFar.of(sessions.find_session(by=caller(request), session_id=str(session_id))))

    @extend_schema(operation_id="end_scoring_session", responses={204: None})
    def delete(self, request: Request, session_id: UUID) -> Response:
        """Delete the session."""
        sessions.end_session(by=caller(request), session_id=str(session_id))
        return Response(status=204)


class AppendSteps(APIView):
    """Appending to a session."""

    scopes = {"POST": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="append_steps", request=StepsToAppend, responses=GrownSession)
    def post(self, request: Request, session_id: UUID) -> Response:
        """Append steps and score them. If scoring fails, nothing is appended."""
        body = read_body(request, StepsToAppend)
        request_id, session = sessions.append_steps(
            by=caller(request),
            token=token_of(request),
            session_id=str(session_id),
            steps=steps_of(body.steps),
            timeout=body.timeout,
        )
        return Response(GrownSession.of(session, request_id=request_id))


class ForkSession(APIView):
    """Branching a session, for example in a beam search."""

    scopes = {"POST": "score"}
    asks_a_worker = True

    @extend_schema(operation_id="fork_scoring_session", request=None, responses={201: SessionSoFar})
    def post(self, request: Request, session_id: UUID) -> Response:
        """Start a second session with the same steps. Both share the cached prefix."""
        session = sessions.fork_session(by=caller(request), session_id=str(session_id))
        return Response(SessionSoFar.of(session), status=201)
