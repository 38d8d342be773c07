"""Submissions, and the caller's own progress."""

from dataclasses import asdict

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import by_program, caller
from annotation.api.claims import TaskSerializer, task_of
from annotation.api.fields import IdField, MillisecondsField
from annotation.core.membership.access import find_project, membership_of
from annotation.labels.quality.statistics import my_progress
from annotation.models import Annotation, SentBack
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.revisions import as_submitted, fills_place, find_latest
from annotation.work.labelling.sending_back import sent_back_to
from annotation.work.labelling.submission import submit_annotation
from annotation.work.practice.screening_progress import describe_standing
from prm.vocabulary import FINISH_REASONS, RATING_STATES

LONGEST_TEXT = 20_000


class NoteField(serializers.CharField):
    """Free text, empty by default."""

    def __init__(self, *, max_length: int = LONGEST_TEXT, help_text: str | None = None) -> None:
        super().__init__(required=False, allow_blank=True, max_length=max_length, help_text=help_text)


class SpanSerializer(serializers.Serializer):
    """A stretch of the step's text, in code points; `end` is not in it."""

    start = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    end = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    error_type = NoteField(max_length=100)
    comment = NoteField()


class DimensionsSerializer(serializers.Serializer):
    """What the project asks of a step beside its rating; what is left out is not said."""

    clauses = serializers.ListField(
        child=serializers.CharField(max_length=100),
        required=False,
        max_length=100,
        help_text="Clauses of the project's policy that the step breaks.",
    )
    consistent = serializers.BooleanField(
        required=False, allow_null=True, help_text="Whether it agrees with an earlier step; false: it contradicts one."
    )
    consistent_with = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=2**31 - 1, help_text="Where that earlier step stands."
    )
    redundant = serializers.BooleanField(required=False)
    recovers = serializers.BooleanField(required=False, help_text="It makes an earlier error good.")
    critique = NoteField(help_text="What is wrong with the step.")
    critique_ratings = serializers.ListField(
        child=serializers.ChoiceField([1, 0, -1]),
        required=False,
        max_length=100,
        help_text="One for each of the critiques that came with the step, in their order.",
    )


class RatingSerializer(serializers.Serializer):
    step = IdField()
    state = serializers.ChoiceField(RATING_STATES)
    rating = serializers.IntegerField(required=False, allow_null=True, min_value=-1, max_value=1)
    flagged = serializers.BooleanField(required=False)
    accepted = serializers.BooleanField(
        required=False, help_text="It was not rated by itself: one key found it good together with others."
    )
    error_type = NoteField(max_length=100)
    comment = NoteField()
    spans = serializers.ListField(child=SpanSerializer(), required=False, max_length=200)
    dimensions = DimensionsSerializer(required=False)


class PathPositionSerializer(serializers.Serializer):
    position = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    chosen = IdField(required=False, allow_null=True)
    own_text = serializers.CharField(required=False, allow_null=True, max_length=LONGEST_TEXT)
    dwell_ms = MillisecondsField(required=False, allow_null=True)
    ratings = serializers.ListField(child=RatingSerializer(), required=False, max_length=200)


class SeenHintSerializer(serializers.Serializer):
    """A position whose score by the model stood before the caller."""

    position = serializers.IntegerField(min_value=0, max_value=2**31 - 1)
    before = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=-1,
        max_value=1,
        help_text="The caller's own rating when it came into sight, null for none.",
    )


class SubmissionSerializer(serializers.Serializer):
    submission_id = serializers.UUIDField(help_text="Made once by the client; a retry sends the same one.")
    solution = IdField()
    lease = IdField(required=False, allow_null=True)
    based_on = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=2**31 - 1,
        help_text="The caller's own revision that this was made upon, 0 (the default) where they had seen none.",
    )
    finish_reason = serializers.ChoiceField(FINISH_REASONS)
    reason = NoteField(help_text="Required for `give_up` and `bad_problem`.")
    total_ms = MillisecondsField(required=False, allow_null=True)
    comment = NoteField()
    reference_disputed = serializers.BooleanField(required=False)
    progress = serializers.IntegerField(
        required=False,
        min_value=0,
        max_value=4,
        help_text="How far the solution had got at its first error: 0 nowhere, 4 all but the end.",
    )
    path = serializers.ListField(child=PathPositionSerializer(), max_length=20_000)
    hints_seen = serializers.ListField(
        child=SeenHintSerializer(), required=False, max_length=20_000, help_text="In the order in which they were seen."
    )


# Made once: with each made anew, half of a submission's check goes into copying its fields.
SUBMISSION = SubmissionSerializer()


class OwnLabelSerializer(serializers.Serializer):
    """What the caller handed in, as it was."""

    solution = IdField()
    revision = serializers.IntegerField(min_value=1)
    submitted_at = serializers.DateTimeField()
    finish_reason = serializers.ChoiceField(FINISH_REASONS)
    reason = serializers.CharField()
    total_ms = MillisecondsField(allow_null=True)
    comment = serializers.CharField()
    reference_disputed = serializers.BooleanField()
    progress = serializers.IntegerField(required=False, min_value=0, max_value=4)
    path = serializers.ListField(child=PathPositionSerializer())


class OwnWorkSerializer(serializers.Serializer):
    task = TaskSerializer()
    submitted = OwnLabelSerializer()
    sent_back = serializers.CharField(allow_null=True, help_text="Why a reviewer sent it back; null where none did.")


class ReceiptSerializer(serializers.Serializer):
    id = IdField()
    revision = serializers.IntegerField(
        min_value=1, help_text="Above 1 it replaces the caller's earlier label in consensus, figures and exports."
    )
    counted = serializers.SerializerMethodField(
        help_text="True if it fills one of the places that were wanted, also as the revision of a label that did. "
        "False for an extra label, which came when the places were taken, and for a decision; both are kept and used."
    )
    first_error = serializers.IntegerField(
        min_value=-1, allow_null=True, help_text="Position of the first error; -1 for none, null where not known."
    )

    def get_counted(self, annotation: Annotation) -> bool:
        return fills_place(annotation)


class ScreeningSerializer(serializers.Serializer):
    """How far the caller's screening is, and how the last one ended."""

    items = serializers.IntegerField(min_value=0)
    given = serializers.IntegerField(min_value=0, help_text="Of the items: answered or skipped.")
    outcome = serializers.ChoiceField(
        ["passed", "failed", "again"], allow_null=True, help_text="Of the last that is over; null for none."
    )
    right = serializers.IntegerField(
        min_value=0, allow_null=True, help_text="Answers that led to the outcome; null where the project does not tell."
    )
    of = serializers.IntegerField(min_value=0, allow_null=True)


class ProgressSerializer(serializers.Serializer):
    today = serializers.IntegerField(min_value=0)
    total = serializers.IntegerField(min_value=0)
    median_seconds = serializers.FloatField(allow_null=True)
    sent_back = serializers.IntegerField(min_value=0, help_text="Labels that a reviewer sent back to the caller.")
    screening = ScreeningSerializer(
        allow_null=True, help_text="Null for whom nobody asks, and once ordinary work is handed in."
    )


class Annotations(APIView):
    """Submissions of a project."""

    @extend_schema(
        operation_id="submit",
        request=SubmissionSerializer,
        responses={201: ReceiptSerializer, 200: ReceiptSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Submit; 201 the first time, 200 with the same body when the same submission comes again.

        With a token that is not marked as a person's tool, the label is a model judge's.
        409 `revision_conflict` where the caller has a newer revision than `based_on`: `extra` holds it as `kept`, and
        what came now as `given`. To make that the newest revision, send it again upon `extra.revision`.
        """
        project = find_project(request.user, slug)
        submission = msgspec.convert(SUBMISSION.run_validation(request.data), Submission)
        submitted = submit_annotation(
            by=caller(request), project=project, submission=submission, by_program=by_program(request)
        )
        receipt = ReceiptSerializer(submitted.annotation)
        return Response(receipt.data, status=201 if submitted.created else 200)


class OwnWork(APIView):
    """One's own label, to revise it."""

    @extend_schema(operation_id="own_work", responses=OwnWorkSerializer)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The caller's latest revision on a solution, and the solution as a task. A draft in it is of a revision."""
        project = find_project(request.user, slug)
        latest = find_latest(by=caller(request), project=project, solution_id=solution_id)
        assert latest.lease is not None  # it came through the queue
        sent = latest.sent_back.filter(state=SentBack.State.OPEN).first()
        return Response(
            {
                "task": task_of(latest.lease, project),
                "submitted": as_submitted(latest),
                "sent_back": sent and sent.reason,
            }
        )


class MyProgress(APIView):
    """The caller's own work."""

    @extend_schema(operation_id="my_progress", responses=ProgressSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """How many solutions the caller labelled, today and in all, and how long one takes."""
        project = find_project(request.user, slug)
        member = membership_of(request.user, project)
        told = my_progress(by=caller(request), project=project) | {"sent_back": 0, "screening": None}
        if member is not None:
            member.project = project
            screening = describe_standing(member)
            told["sent_back"] = sent_back_to(member).count()
            told["screening"] = screening and asdict(screening)
        return Response(told)
