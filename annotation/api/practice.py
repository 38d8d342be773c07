"""The practice set: its solutions, and answers with immediate explanations."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.claims import Work
from annotation.core.membership.access import find_project, require_role
from annotation.work.claiming import fetch_steps
from annotation.work.labelling.payload import Submission
from annotation.work.practice.answering import Place, answer_practice, find_practice, practice_set
from annotation.work.practice.explanations import Explanation


class Practice(APIView):
    """The practice set of a project."""

    scopes = {"GET": "read", "POST": "read"}

    @extend_schema(operation_id="list_practice", request=None, responses=list[Place])
    def get(self, request: Request, slug: str) -> Response:
        """The practice solutions in order, and the caller's progress. For every member."""
        membership = require_role(request.user, find_project(request.user, slug))
        return Response(practice_set(membership))

    @extend_schema(
        operation_id="answer_practice",
        request=Submission,
        responses={201: Explanation, 200: Explanation},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Submit an answer and get its explanation. It is not a label, and may be repeated.

        Returns 201 the first time, and 200 with the same body if the submission is repeated.
        """
        project = find_project(request.user, slug)
        submission = read_body(request, Submission)
        practised = answer_practice(by=caller(request), project=project, submission=submission)
        return Response(practised.explanation, status=201 if practised.created else 200)


class PracticeWork(APIView):
    """One solution of the practice set."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_practice", request=None, responses=Work)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The solution with its problem, as in a task. The right answer is not included."""
        project = find_project(request.user, slug)
        return Response(Work.of(find_practice(project, solution_id).solution, project, fetch_steps(solution_id)))
