"""Outcomes of solutions from tests that were run elsewhere."""

import io
from typing import Any

import msgspec
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import MessageField
from annotation.api.parsing import BoundedJSONParser, LinesParser, XMLParser
from annotation.core.membership.access import find_project
from annotation.files.code_outcomes import Kind, apply_results
from annotation.models import Membership

LARGEST = 2**31 - 1


class ResultSerializer(serializers.Serializer):
    id = serializers.CharField(max_length=200, help_text="Under which the solution was imported or posted.")
    passed = serializers.IntegerField(min_value=0, max_value=LARGEST)
    failed = serializers.IntegerField(min_value=0, max_value=LARGEST, default=0)


class ResultsSerializer(serializers.Serializer):
    results = ResultSerializer(many=True)


class RefusedSerializer(serializers.Serializer):
    line = serializers.IntegerField(help_text="0 in a JUnit report.")
    id = serializers.CharField()
    reason = MessageField()


class AppliedSerializer(serializers.Serializer):
    correct = serializers.IntegerField()
    wrong = serializers.IntegerField()
    changed = serializers.IntegerField(help_text="Of these; the others were known to be so already.")
    refused = serializers.IntegerField()
    shown = RefusedSerializer(many=True, help_text="The first thousand that were refused.")


class TestResults(APIView):
    """Test results."""

    parser_classes = (BoundedJSONParser, LinesParser, XMLParser)

    @extend_schema(
        operation_id="post_test_results",
        request={"application/json": ResultsSerializer, "application/xml": OpenApiTypes.BINARY},
        responses=AppliedSerializer,
    )
    def post(self, request: Request, slug: str) -> Response:
        """Set outcomes: correct where tests passed and none failed. A manager may.

        `application/x-ndjson` takes the results one a line, `application/xml` a JUnit report.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        content: Any = request.data
        kind: Kind = "junit" if request.content_type.startswith("application/xml") else "jsonl"
        if not isinstance(content, io.BytesIO):
            given = ResultsSerializer(data=content)
            given.is_valid(raise_exception=True)
            content = io.BytesIO(b"\n".join(map(msgspec.json.encode, given.validated_data["results"])))
        applied = apply_results(by=caller(request), project=project, content=content, kind=kind)
        return Response(AppliedSerializer(applied).data)
