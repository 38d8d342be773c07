"""The check of final answers over the API: start one, watch it, cancel it."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import MessageField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import STAFF, find_project, require_role, visible_projects
from annotation.files.answer_checks import start_answer_check
from annotation.models import AnswerCheck, Membership
from prm.messages import Message


class AnswerCheckSerializer(serializers.ModelSerializer):
    """A run of the grader over a project's solutions; counts are of solutions."""

    project = serializers.SlugField(source="project.slug", read_only=True)
    error = MessageField()
    disagreements = serializers.IntegerField(
        source="disagreements.count", read_only=True, help_text="With outcomes that were given or are from tests."
    )

    class Meta:
        model = AnswerCheck
        fields = (
            "id", "project", "overwrite", "state", "total", "done", "correct", "wrong", "unknown", "changed",
            "disagreements", "cancel_requested", "error", "created_at", "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields


class CheckWishSerializer(serializers.Serializer):
    overwrite = serializers.BooleanField(default=False, help_text="Also outcomes that were given, or are from tests.")


class AnswerChecks(PagedView):
    """The answer checks of a project."""

    @extend_schema(operation_id="list_answer_checks", request=None, responses=AnswerCheckSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The checks of the project, the latest first. Reviewers and managers may."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.answer_checks.select_related("project"), request, AnswerCheckSerializer)

    @extend_schema(
        operation_id="start_answer_check", request=CheckWishSerializer, responses={202: AnswerCheckSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Let a worker compare final answers with their references and set outcomes. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        given = CheckWishSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        check = start_answer_check(by=caller(request), project=project, **given.validated_data)
        return Response(AnswerCheckSerializer(check).data, status=202)


class AnswerCheckDetail(APIView):
    """One answer check."""

    @extend_schema(operation_id="get_answer_check", responses=AnswerCheckSerializer)
    def get(self, request: Request, check_id: int) -> Response:
        """How far the check is, and what it found. Reviewers and managers may."""
        return Response(AnswerCheckSerializer(_find(request, check_id)).data)


class CancelAnswerCheck(APIView):
    """Cancelling an answer check."""

    @extend_schema(operation_id="cancel_answer_check", request=None, responses=AnswerCheckSerializer)
    def post(self, request: Request, check_id: int) -> Response:
        """Stop the check; what it graded stays. A manager may."""
        check = cancel_job(by=caller(request), job=_find(request, check_id))
        return Response(AnswerCheckSerializer(check).data)


def _find(request: Request, check_id: int) -> AnswerCheck:
    checks = AnswerCheck.objects.select_related("project").filter(project__in=visible_projects(request.user))
    check = checks.filter(pk=check_id).first()
    if check is None:
        raise Missing("answer_check_not_found", Message("answer_check_not_found", check_id=check_id))
    require_role(request.user, check.project, *STAFF)
    return check
