"""The practice set: what there is to practise on, and answers that are explained at once."""

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.annotations import SUBMISSION, SubmissionSerializer
from annotation.api.authentication import caller
from annotation.api.claims import WorkSerializer, work_of
from annotation.api.fields import IdField
from annotation.core.membership.access import find_project, require_role
from annotation.models import PracticeAnswer
from annotation.work.labelling.payload import Submission
from annotation.work.practice.answering import answer_practice, find_practice, practice_set
from prm.vocabulary import WORDS


class PracticePlaceSerializer(serializers.Serializer):
    solution = IdField()
    answered = serializers.IntegerField(min_value=0, help_text="How often the caller has answered it.")
    outcome = serializers.ChoiceField(
        PracticeAnswer.Outcome.choices, allow_null=True, help_text="Of the caller's last answer; null for none."
    )


class PracticeWordsSerializer(serializers.Serializer):
    """What is known of a completion, and what the caller said."""

    step = IdField()
    position = serializers.IntegerField(min_value=0)
    known = serializers.ChoiceField(WORDS, allow_null=True, help_text="Null where the reference says nothing.")
    said = serializers.ChoiceField(WORDS, allow_null=True, help_text="Null where the caller said nothing.")
    error_type = serializers.CharField(help_text="The reference's.")
    comment = serializers.CharField(help_text="The reference's.")


class ExplanationSerializer(serializers.Serializer):
    """How an answer stands to what is known. First errors are positions, -1 for none."""

    outcome = serializers.ChoiceField(PracticeAnswer.Outcome.choices)
    said = serializers.IntegerField(min_value=-1, allow_null=True, help_text="Null where the caller gave up.")
    known = serializers.IntegerField(min_value=-1)
    accepted = serializers.ListField(
        child=serializers.IntegerField(min_value=-1), help_text="Other first errors that count as right."
    )
    explanation = serializers.CharField(help_text="Why the first error is where it is, in the project's words.")
    comment = serializers.CharField(help_text="The reference's, on the whole solution.")
    steps = PracticeWordsSerializer(many=True)


class Practice(APIView):
    """The practice set of a project."""

    @extend_schema(operation_id="list_practice", request=None, responses=PracticePlaceSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The solutions to practise on, in their order, and how far the caller has come; for every member."""
        membership = require_role(request.user, find_project(request.user, slug))
        return Response(PracticePlaceSerializer(practice_set(membership), many=True).data)

    @extend_schema(
        operation_id="answer_practice",
        request=SubmissionSerializer,
        responses={201: ExplanationSerializer, 200: ExplanationSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Answer one, as a submission, and have it explained. It becomes no label, and may be done again and again.

        201 the first time, 200 with the same body when the same submission comes again.
        """
        project = find_project(request.user, slug)
        submission = msgspec.convert(SUBMISSION.run_validation(request.data), Submission)
        practised = answer_practice(by=caller(request), project=project, submission=submission)
        return Response(ExplanationSerializer(practised.explanation).data, status=201 if practised.created else 200)


class PracticeWork(APIView):
    """One solution of the practice set."""

    @extend_schema(operation_id="get_practice", request=None, responses=WorkSerializer)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The solution with its problem, as a task has them. Its answer is told once it is answered."""
        project = find_project(request.user, slug)
        return Response(work_of(find_practice(project, solution_id).solution, project))
