"""Outcomes of solutions: from external test results, and from checks of final answers."""

import io
from typing import Annotated, Any, Self

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.api.parsing import JSONParser, LinesParser, XMLParser
from annotation.core.bounds import Count, NonBlank, Position, about
from annotation.core.membership.access import STAFF, find_project
from annotation.files.answer_checks import start_answer_check
from annotation.files.code_outcomes import Applied, Kind, apply_results
from annotation.models import Membership


class ResultOfTests(msgspec.Struct):
    id: Annotated[NonBlank, Meta(max_length=200, description="The id under which the solution was imported or posted.")]
    passed: Annotated[Position, about("Number of tests that passed.")]
    failed: Annotated[Position, about("Number of tests that failed.")] = 0


class ResultsOfTests(msgspec.Struct):
    results: Annotated[list[ResultOfTests], about("The result of each solution.")]


class TestResults(APIView):
    """Test results."""

    scopes = {"POST": "admin"}
    parser_classes = (JSONParser, LinesParser, XMLParser)

    @extend_schema(
        operation_id="post_test_results",
        request={"application/json": ResultsOfTests, "application/xml": OpenApiTypes.BINARY},
        responses=Applied,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Set outcomes: correct if tests passed and none failed. Managers only.

        `application/x-ndjson` takes one result per line, `application/xml` a JUnit report.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        content: Any = request.data or b""
        kind: Kind = "junit" if request.content_type.startswith(XMLParser.media_type) else "jsonl"
        if request.content_type.startswith(JSONParser.media_type):
            content = b"\n".join(map(msgspec.json.encode, read_body(request, ResultsOfTests).results))
        return Response(apply_results(by=caller(request), project=project, content=io.BytesIO(content), kind=kind))


class AnswerCheckRow(JobRow):
    """A run of the grader over a project's solutions; counts are of solutions."""

    overwrite: Annotated[bool, about("Whether stated outcomes are graded again.")]
    total: Annotated[Count, about("Number of solutions to grade.")]
    done: Annotated[Count, about("Number of graded solutions.")]
    correct: Annotated[Count, about("Number of solutions whose final answer is right.")]
    wrong: Annotated[Count, about("Number of solutions whose final answer is wrong.")]
    unknown: Annotated[Count, about("Number of solutions that could not be graded.")]
    changed: Annotated[Count, about("Number of solutions whose outcome changed.")]
    disagreements: Annotated[
        Count, about("Solutions whose outcome from the import or from tests differs from the grader's.")
    ]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, disagreements=row.disagreements.count(), **others)


class AnswerCheckToStart(msgspec.Struct):
    overwrite: Annotated[bool, about("Also overwrite outcomes from the import or from tests.")] = False


class AnswerChecks(PagedView):
    """The answer checks of a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_answer_checks", request=None, responses=Page[AnswerCheckRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's answer checks, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.answer_checks.select_related("project", "requested_by"), request, AnswerCheckRow.of)

    @extend_schema(operation_id="start_answer_check", request=AnswerCheckToStart, responses={202: AnswerCheckRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that compares final answers with their references and sets outcomes. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, AnswerCheckToStart)
        check = start_answer_check(by=caller(request), project=project, overwrite=body.overwrite)
        return Response(AnswerCheckRow.of(check), status=202)
