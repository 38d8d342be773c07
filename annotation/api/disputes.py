"""Claims that a reference is wrong, and the decision on each."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, visible_projects
from annotation.labels.quality.dispute_decision import resolve
from annotation.models import Dispute
from prm.messages import Message


class DisputeSerializer(serializers.ModelSerializer):
    solution = serializers.IntegerField(source="annotation.solution_id")
    problem = serializers.CharField(source="annotation.solution.problem.text")
    reference_answer = serializers.CharField(
        source="annotation.solution.problem.reference_answer", allow_null=True, help_text="As it is now."
    )
    comment = serializers.CharField(source="annotation.comment", help_text="What the annotator says.")

    class Meta:
        model = Dispute
        fields = (
            "id", "solution", "annotation", "problem", "reference_answer", "comment", "state", "resolution",
            "created_at", "resolved_at",
        )  # fmt: skip


class DisputeStateSerializer(serializers.Serializer):
    state = serializers.ChoiceField(Dispute.State.choices, required=False)


class DecisionSerializer(serializers.Serializer):
    upheld = serializers.BooleanField(help_text="Whether the reference is wrong.")
    resolution = serializers.CharField(help_text="Why.")
    reference = serializers.CharField(
        required=False, default="", help_text="The right answer, to stand in the wrong one's place."
    )


class Disputes(PagedView):
    """The disputes of a project."""

    @extend_schema(
        operation_id="list_disputes", parameters=[DisputeStateSerializer], responses=DisputeSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """The earliest first; for reviewers and managers."""
        asked = DisputeStateSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        disputes = find_project(request.user, slug, *STAFF).disputes.filter(**asked.validated_data)
        rows = disputes.select_related("annotation__solution__problem").order_by("pk")
        return self.page_of(rows, request, DisputeSerializer)


class ResolveDispute(APIView):
    """Deciding on a dispute."""

    @extend_schema(operation_id="resolve_dispute", request=DecisionSerializer, responses=DisputeSerializer)
    def post(self, request: Request, dispute_id: int) -> Response:
        """Settle it, and with it all that are open on the same problem. A reviewer or manager may."""
        known = Dispute.objects.filter(project__in=visible_projects(request.user))
        dispute = known.select_related("project").filter(pk=dispute_id).first()
        if dispute is None:
            raise Missing("dispute_not_found", Message("dispute_not_found"))
        given = DecisionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        settled = resolve(by=caller(request), dispute=dispute, **given.validated_data)
        return Response(DisputeSerializer(settled).data)
