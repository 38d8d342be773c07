"""Projects: list, create, look at, change."""

from typing import Any, NoReturn

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.errors import ErrorSerializer
from annotation.api.fields import JSONObjectField
from annotation.api.paging import PagedView
from annotation.core.membership.access import find_project, visible_projects
from annotation.core.membership.projects import change_project, create_project, delete_project
from annotation.loop.gateway.training import check_training
from annotation.models import Project
from annotation.models.example import MOST_EXAMPLES
from prm.vocabulary import WORDS


class PolicyCheck:
    """The library's word on a policy's training choices, before the domain's on the rest."""

    def validate_policy(self, policy: dict[str, Any]) -> dict[str, Any]:
        choices = policy.get("training")
        if isinstance(choices, dict):
            check_training(choices)
        return policy


class ExampleSerializer(serializers.Serializer):
    """A step with the rating that it deserves, shown beside the guidelines."""

    rating = serializers.ChoiceField(WORDS)
    step = serializers.CharField(max_length=4000)
    before = serializers.CharField(
        required=False, allow_blank=True, max_length=4000, help_text="What the step follows."
    )
    why = serializers.CharField(required=False, allow_blank=True, max_length=4000, help_text="What decides.")


class ProjectSerializer(PolicyCheck, serializers.ModelSerializer):
    examples = serializers.ListField(child=ExampleSerializer(), required=False, max_length=MOST_EXAMPLES)
    scheme = JSONObjectField(required=False, help_text="The label scheme; what is left out has its default.")
    policy = JSONObjectField(required=False, help_text="Queue, rounds and training; what is left out has its default.")

    class Meta:
        model = Project
        fields = ("slug", "name", "guidelines", "examples", "scheme", "policy", "state", "created_at")
        read_only_fields = ("state", "created_at")
        extra_kwargs: dict[str, dict[str, list]] = {"slug": {"validators": []}}


class ProjectChangeSerializer(PolicyCheck, serializers.ModelSerializer):
    examples = serializers.ListField(child=ExampleSerializer(), required=False, max_length=MOST_EXAMPLES)
    scheme = JSONObjectField(required=False)
    policy = JSONObjectField(required=False)

    class Meta:
        model = Project
        fields = ("name", "guidelines", "examples", "scheme", "policy", "state")


class ProjectList(PagedView):
    """The projects of the caller."""

    @extend_schema(operation_id="list_projects", responses=ProjectSerializer(many=True), request=None)
    def get(self, request: Request) -> Response:
        """The projects in which the caller has a role, by name."""
        return self.page_of(visible_projects(request.user).order_by("name", "pk"), request, ProjectSerializer)

    @extend_schema(operation_id="create_project", request=ProjectSerializer, responses={201: ProjectSerializer})
    def post(self, request: Request) -> Response:
        """Create a project; staff and managers may, and become its manager."""
        given = ProjectSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        project = create_project(by=caller(request), **given.validated_data)
        return Response(ProjectSerializer(project).data, status=201)


class ProjectDetail(APIView):
    """One project."""

    @extend_schema(operation_id="get_project", responses=ProjectSerializer)
    def get(self, request: Request, slug: str) -> Response:
        """One project of the caller."""
        return Response(ProjectSerializer(find_project(request.user, slug)).data)

    @extend_schema(operation_id="change_project", request=ProjectChangeSerializer, responses=ProjectSerializer)
    def patch(self, request: Request, slug: str) -> Response:
        """Change a project; a manager may."""
        project = find_project(request.user, slug)
        given = ProjectChangeSerializer(data=request.data, partial=True)
        given.is_valid(raise_exception=True)
        changed = change_project(by=caller(request), project=project, **given.validated_data)
        return Response(ProjectSerializer(changed).data)

    @extend_schema(operation_id="delete_project", request=None, responses={409: ErrorSerializer})
    def delete(self, request: Request, slug: str) -> NoReturn:
        """Refused to everybody: 403 for all but managers, 409 `project_kept` for them. The attempt is on record."""
        delete_project(by=caller(request), project=find_project(request.user, slug))
