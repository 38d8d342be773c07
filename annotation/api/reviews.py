"""What waits for a reviewer, what was said of it, and the decision."""

from typing import Any

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.annotations import OwnLabelSerializer, ReceiptSerializer, SubmissionSerializer
from annotation.api.authentication import by_program, caller
from annotation.api.fields import IdField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.review_case import case_of
from annotation.labels.quality.review_queue import REASONS, to_review
from annotation.models import Annotation, Project, Solution
from annotation.work.labelling.adjudication import accept, adjudicate
from annotation.work.labelling.payload import Submission
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.submission import Submitted
from prm.messages import Message

LONGEST = 20_000


class ReasonSerializer(serializers.Serializer):
    reason = serializers.ChoiceField(REASONS, required=False)


class WaitingSerializer(serializers.Serializer):
    """A solution that waits for a reviewer, and why."""

    solution = IdField(source="pk")
    problem = serializers.CharField(source="problem.text")
    domain = serializers.CharField(source="problem.domain")
    differs = serializers.BooleanField(help_text="People name different first errors.")
    disputed = serializers.BooleanField(help_text="Somebody says that the reference is wrong.")
    doubted = serializers.BooleanField(help_text="Somebody flagged a step, or was unsure of one.")


class CaseLabelSerializer(OwnLabelSerializer):
    id = IdField()
    annotator = serializers.CharField(allow_null=True, help_text="Null where the label came in a file.")
    adjudicates = serializers.BooleanField()
    first_error = serializers.IntegerField(min_value=-1, allow_null=True)
    sent_back = serializers.BooleanField(help_text="It waits for its annotator to look at it again.")


class CaseStepSerializer(serializers.Serializer):
    id = IdField()
    position = serializers.IntegerField(min_value=0)
    alternative = serializers.IntegerField(min_value=0)
    text = serializers.CharField()
    differs = serializers.BooleanField(help_text="Those who read it do not all say the same.")


class CaseSerializer(serializers.Serializer):
    """People's latest labels of one solution, side by side."""

    solution = IdField()
    newest = serializers.IntegerField(min_value=0, help_text="To be sent as `seen` with a decision.")
    steps = CaseStepSerializer(many=True)
    labels = CaseLabelSerializer(many=True)


class SeenSerializer(serializers.Serializer):
    seen = serializers.IntegerField(
        min_value=0, max_value=2**63 - 1, help_text="The `newest` of the case that was looked at."
    )


class DecidingSerializer(SubmissionSerializer, SeenSerializer):
    """A label of one's own that decides."""


class AcceptingSerializer(SeenSerializer):
    submission_id = serializers.UUIDField(help_text="Made once by the client; a retry sends the same one.")
    comment = serializers.CharField(required=False, allow_blank=True, default="", max_length=LONGEST)


class ReviewQueue(PagedView):
    """What waits for a reviewer."""

    @extend_schema(operation_id="list_reviews", parameters=[ReasonSerializer], responses=WaitingSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Disagreements first, then disputed references, then steps in doubt; for reviewers and managers."""
        asked = ReasonSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        project = find_project(request.user, slug, *STAFF)
        rows = to_review(project, asked.validated_data.get("reason", ""))
        return self.page_of(rows.select_related("problem"), request, WaitingSerializer)


class ReviewCase(APIView):
    """What people said of a solution."""

    @extend_schema(operation_id="get_review", responses=CaseSerializer)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """Their latest labels, with the steps on which they differ; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        found = case_of(_solution(project, solution_id))
        steps = [{**_step(row.step), "differs": row.differs} for row in found.rows]
        labels = [_label(label) for label in found.labels]
        return Response({"solution": solution_id, "newest": found.newest, "steps": steps, "labels": labels})


class Adjudications(APIView):
    """Deciding by a label of one's own."""

    @extend_schema(
        operation_id="adjudicate",
        request=DecidingSerializer,
        responses={201: ReceiptSerializer, 200: ReceiptSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Decide on a solution; 201 the first time, 200 with the same body when the same decision comes again.

        409 `labels_changed` where a label has come since the case was `seen`.
        """
        project = find_project(request.user, slug, *STAFF)
        given = DecidingSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        submission = msgspec.convert(given.validated_data, Submission)
        made = adjudicate(
            by=caller(request),
            project=project,
            submission=submission,
            seen=given.validated_data["seen"],
            by_program=by_program(request),
        )
        return _receipt(made)


class AcceptLabel(APIView):
    """Deciding by a label that is there."""

    @extend_schema(
        operation_id="accept_label",
        request=AcceptingSerializer,
        responses={201: ReceiptSerializer, 200: ReceiptSerializer},
    )
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Decide as this label says; as for a label of one's own."""
        project = find_project(request.user, slug, *STAFF)
        given = AcceptingSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        made = accept(
            by=caller(request),
            annotation=label_in(project, annotation_id),
            by_program=by_program(request),
            **given.validated_data,
        )
        return _receipt(made)


def label_in(project: Project, annotation_id: int) -> Annotation:
    """Raises Missing."""
    labels = project.annotations.select_related("project", "source", "annotator").filter(pk=annotation_id)
    if (label := labels.first()) is None:
        raise Missing(
            "annotation_not_found", Message("annotation_not_found", annotation_id=annotation_id, name=project.name)
        )
    return label


def _solution(project: Project, solution_id: int) -> Solution:
    found = project.solutions.filter(pk=solution_id).first()
    if found is None:
        raise Missing(
            "solution_not_found", Message("solution_id_not_in_project", solution_id=solution_id, name=project.name)
        )
    return found


def _step(step: Any) -> dict[str, Any]:
    return {"id": step.pk, "position": step.position, "alternative": step.alternative, "text": step.text}


def _label(label: Any) -> dict[str, Any]:
    return as_submitted(label) | {
        "id": label.pk,
        "annotator": label.annotator and label.annotator.user.username,
        "adjudicates": label.adjudicates,
        "first_error": label.first_error,
        "sent_back": bool(label.open_requests),
    }


def _receipt(made: Submitted) -> Response:
    return Response(ReceiptSerializer(made.annotation).data, status=201 if made.created else 200)
