"""Projects: list, create, read, change."""

from datetime import datetime
from typing import Annotated, Any, NoReturn, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.errors import ErrorBody
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import NonBlank
from annotation.core.membership.access import find_project, visible_projects
from annotation.core.membership.projects import change_project, create_project, delete_project
from annotation.loop.gateway.training import check_training
from annotation.models import Project
from annotation.models.example import Example

Name = Annotated[NonBlank, Meta(max_length=200)]


class ProjectRow(Row):
    slug: str
    name: str
    guidelines: str
    examples: list[Example]
    scheme: Annotated[dict[str, Any], Meta(description="The label scheme. Omitted fields have their defaults.")]
    policy: Annotated[
        dict[str, Any], Meta(description="Queue, rounds and training. Omitted fields have their defaults.")
    ]
    state: Project.State
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, examples=row.rated_examples, **others)


class ProjectFields(msgspec.Struct, kw_only=True):
    """The optional fields. The services validate scheme, policy and examples."""

    guidelines: str | UnsetType = UNSET
    examples: list[dict[str, Any]] | UnsetType = UNSET
    scheme: dict[str, Any] | UnsetType = UNSET
    policy: dict[str, Any] | UnsetType = UNSET

    def sent(self) -> dict[str, Any]:
        """The fields that were sent. Raises DomainError if the library rejects the policy's training choices."""
        choices = self.policy.get("training") if self.policy else None
        if isinstance(choices, dict):
            check_training(choices)
        return sent_fields(self)


class ProjectToCreate(ProjectFields, kw_only=True):
    slug: Annotated[str, Meta(max_length=80)]
    name: Name


class ProjectChange(ProjectFields, kw_only=True):
    """Changes to a project. Omitted fields keep their values."""

    name: Name | UnsetType = UNSET
    state: Project.State | UnsetType = UNSET


class ProjectList(PagedView):
    """The projects of the caller."""

    @extend_schema(operation_id="list_projects", responses=Page[ProjectRow], request=None)
    def get(self, request: Request) -> Response:
        """The projects in which the caller has a role, by name."""
        return self.page_of(visible_projects(request.user).order_by("name", "pk"), request, ProjectRow.of)

    @extend_schema(operation_id="create_project", request=ProjectToCreate, responses={201: ProjectRow})
    def post(self, request: Request) -> Response:
        """Create a project, with the caller as its manager. Staff and managers of a project only."""
        project = create_project(by=caller(request), **read_body(request, ProjectToCreate).sent())
        return Response(ProjectRow.of(project), status=201)


class ProjectDetail(APIView):
    """One project."""

    @extend_schema(operation_id="get_project", responses=ProjectRow)
    def get(self, request: Request, slug: str) -> Response:
        """One of the caller's projects."""
        return Response(ProjectRow.of(find_project(request.user, slug)))

    @extend_schema(operation_id="change_project", request=ProjectChange, responses=ProjectRow)
    def patch(self, request: Request, slug: str) -> Response:
        """Change a project. Managers only."""
        project = find_project(request.user, slug)
        changed = change_project(by=caller(request), project=project, **read_body(request, ProjectChange).sent())
        return Response(ProjectRow.of(changed))

    @extend_schema(operation_id="delete_project", request=None, responses={409: ErrorBody})
    def delete(self, request: Request, slug: str) -> NoReturn:
        """Always rejected: 409 `project_kept` for managers, 403 for others. The attempt is recorded."""
        delete_project(by=caller(request), project=find_project(request.user, slug))
