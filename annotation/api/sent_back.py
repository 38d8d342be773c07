"""Labels that a reviewer sent back to their annotators."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.api.reviews import label_in
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, membership_of, visible_projects
from annotation.models import SentBack
from annotation.work.labelling.sending_back import send_back, take_back
from prm.messages import Message


class SentBackSerializer(serializers.ModelSerializer):
    solution = serializers.IntegerField(source="annotation.solution_id")

    class Meta:
        model = SentBack
        fields = ("id", "solution", "annotation", "reason", "state", "answer", "created_at", "ended_at")


class SentBackStateSerializer(serializers.Serializer):
    state = serializers.ChoiceField(SentBack.State.choices, required=False)


class SendingBackSerializer(serializers.Serializer):
    reason = serializers.CharField(max_length=20_000, help_text="What the annotator should look at; they are told.")


class SentBackList(PagedView):
    """Labels that were sent back."""

    @extend_schema(
        operation_id="list_sent_back", parameters=[SentBackStateSerializer], responses=SentBackSerializer(many=True)
    )
    def get(self, request: Request, slug: str) -> Response:
        """The latest first: all of them for reviewers and managers, their own for annotators."""
        asked = SentBackStateSerializer(data=request.query_params)
        asked.is_valid(raise_exception=True)
        project = find_project(request.user, slug)
        rows = project.sent_back.filter(**asked.validated_data)
        member = membership_of(request.user, project)
        if member is not None and member.role not in STAFF:
            rows = rows.filter(annotation__annotator=member)
        return self.page_of(rows.select_related("annotation").order_by("-pk"), request, SentBackSerializer)


class SendBack(APIView):
    """Sending a label back."""

    @extend_schema(operation_id="send_back", request=SendingBackSerializer, responses={201: SentBackSerializer})
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Ask the annotator to look at it again. A reviewer or manager may."""
        label = label_in(find_project(request.user, slug, *STAFF), annotation_id)
        given = SendingBackSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        sent = send_back(by=caller(request), annotation=label, **given.validated_data)
        return Response(SentBackSerializer(sent).data, status=201)


class TakeBack(APIView):
    """Letting a label stand after all."""

    @extend_schema(operation_id="take_back", request=None, responses=SentBackSerializer)
    def post(self, request: Request, sent_id: int) -> Response:
        """The annotator need not look at it again. A reviewer or manager may."""
        known = SentBack.objects.filter(project__in=visible_projects(request.user)).select_related("project")
        sent = known.filter(pk=sent_id).first()
        if sent is None:
            raise Missing("sent_back_not_found", Message("sent_back_not_found"))
        return Response(SentBackSerializer(take_back(by=caller(request), sent=sent)).data)
