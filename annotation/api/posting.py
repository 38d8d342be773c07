"""Solutions from a sampling, search or RL run, posted in batches."""

import io
import json
from collections import Counter
from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import JSONObjectField, MessageField, ThinkingField
from annotation.api.parsing import BoundedJSONParser, LinesParser
from annotation.core.membership.access import find_project
from annotation.files.posting import MOST_POSTED, Answer, post_solutions
from annotation.models import Membership
from prm.splitting import RULES

STATES = ("accepted", "duplicate", "rejected")


class PostedSolutionsSerializer(serializers.Serializer):
    """`provenance` is that of every solution which does not say otherwise, field by field."""

    solutions = serializers.ListField(
        child=serializers.JSONField(),
        max_length=MOST_POSTED,
        help_text="`problem`, `steps` or `solution`, `id`, `answer` (the reference), `final_answer`, `outcome` "
        "(correct, wrong, unknown), `outcome_source` (given, tests), `provenance`, `labels`, `step_scores`, `domain`, "
        "`source_group`, `extra`.",
    )
    provenance = JSONObjectField(
        default=dict,
        help_text="`policy`, `temperature`, `seed`, `prompt`, `scaffold`, `visibility` (raw, summary, redacted), "
        "`run`, `settings`.",
    )
    decomposition = serializers.ChoiceField(list(RULES), default="blank_lines")
    thinking = ThinkingField()

    def lines(self) -> io.BytesIO:
        """One solution a line, as JSON Lines are posted."""
        shared = self.validated_data["provenance"]
        return io.BytesIO(
            "\n".join(json.dumps(_with(one, shared)) for one in self.validated_data["solutions"]).encode()
        )


class AnswerSerializer(serializers.Serializer):
    line = serializers.IntegerField(help_text="Its place in the batch, from 1.")
    id = serializers.CharField(help_text="As posted; empty where there is none.")
    state = serializers.ChoiceField(STATES)
    solution = serializers.IntegerField(allow_null=True, help_text="Its id here; null where it was rejected.")
    field = serializers.CharField(help_text="Which field of it was at fault.")
    reason = MessageField()


class AnswersSerializer(serializers.Serializer):
    accepted = serializers.IntegerField()
    duplicates = serializers.IntegerField()
    rejected = serializers.IntegerField()
    solutions = AnswerSerializer(many=True)


class PostSolutions(APIView):
    """Solutions from a program."""

    parser_classes = (BoundedJSONParser, LinesParser)

    @extend_schema(operation_id="post_solutions", request=PostedSolutionsSerializer, responses=AnswersSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Take in a batch; each solution is answered by itself. A manager may.

        `application/x-ndjson` takes one solution a line, with `?decomposition=` and `?thinking=` in the address.
        Sending a batch again adds nothing: what is here already is a duplicate, and its answer has its id. 429: send
        it again later.
        """
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        if isinstance(request.data, io.BytesIO):
            content, chosen = request.data, request.query_params
        else:
            given = PostedSolutionsSerializer(data=request.data)
            given.is_valid(raise_exception=True)
            content, chosen = given.lines(), given.validated_data
        answers = post_solutions(
            by=caller(request),
            project=project,
            content=content,
            decomposition=chosen.get("decomposition", "blank_lines"),
            thinking=chosen.get("thinking", "separate"),
        )
        return Response(_presented(answers))


def _presented(answers: list[Answer]) -> dict[str, Any]:
    counted = Counter(answer.state for answer in answers)
    return {
        "accepted": counted["accepted"],
        "duplicates": counted["duplicate"],
        "rejected": counted["rejected"],
        "solutions": AnswerSerializer(answers, many=True).data,
    }


def _with(one: Any, shared: dict[str, Any]) -> Any:
    """What is of another shape is left as it is, to be refused with its place."""
    own = one.get("provenance", {}) if isinstance(one, dict) else None
    return {**one, "provenance": {**shared, **own}} if shared and isinstance(own, dict) else one
