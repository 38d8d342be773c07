"""Outcomes of solutions from external test runs."""

import io
from typing import Annotated, Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.parsing import JSONParser, LinesParser, XMLParser
from annotation.core.bounds import Position, Written
from annotation.core.membership.access import find_project
from annotation.files.code_outcomes import Applied, Kind, apply_results
from annotation.models import Membership


class ResultOfTests(msgspec.Struct):
    id: Annotated[Written, Meta(max_length=200, description="The id under which the solution was imported or posted.")]
    passed: Position
    failed: Position = 0


class ResultsOfTests(msgspec.Struct):
    results: list[ResultOfTests]


class TestResults(APIView):
    """Test results."""

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
