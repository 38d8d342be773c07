"""Projects: list, create, read, change."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, NoReturn, Self

import msgspec
from django.db.models import Prefetch
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, sent_fields
from annotation.api.errors import ErrorBody
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, NonBlank, about
from annotation.core.membership.access import find_project, visible_projects
from annotation.core.membership.projects import change_project, create_project, delete_project
from annotation.loop.gateway.training import check_training
from annotation.models import GuidelineVersion, Project
from annotation.models.guideline_version import Example

Name = Annotated[NonBlank, Meta(max_length=200)]


class ProjectRow(Row):
    slug: str
    name: Annotated[str, about("The name of the project.")]
    guidelines: str
    guidelines_version: Annotated[Count, about("Number of the current version; 0 if there is none.")]
    examples: list[Example]
    scheme: Annotated[dict[str, Any], about("The label scheme. Omitted fields have their defaults.")]
    policy: Annotated[dict[str, Any], about("Queue, rounds and training. Omitted fields have their defaults.")]
    state: Project.State
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        current = row.current_guidelines
        return super().of(
            row,
            guidelines=current.text,
            guidelines_version=current.number,
            examples=current.rated_examples,
            **others,
        )


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


class GuidelineVersionRow(Row):
    paths: ClassVar[dict[str, str]] = {"created_by": "created_by.username"}

    number: Annotated[int, Meta(ge=1, description="The number that labels and records state.")]
    text: str
    examples: list[Example]
    created_by: str | None
    created_at: datetime

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, examples=row.rated_examples, **others)


class ProjectList(PagedView):
    """The projects of the caller."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_projects", responses=Page[ProjectRow], request=None)
    def get(self, request: Request) -> Response:
        """The projects in which the caller has a role, by name."""
        current = GuidelineVersion.objects.order_by("project", "-number").distinct("project")
        projects = visible_projects(request.user).prefetch_related(Prefetch("guideline_versions", current))
        return self.page_of(projects.order_by("name", "pk"), request, ProjectRow.of)

    @extend_schema(operation_id="create_project", request=ProjectToCreate, responses={201: ProjectRow})
    def post(self, request: Request) -> Response:
        """Create a project, with the caller as its manager. Staff and managers of a project only."""
        project = create_project(by=caller(request), **read_body(request, ProjectToCreate).sent())
        return Response(ProjectRow.of(project), status=201)


class ProjectDetail(APIView):
    """One project."""

    scopes = {"GET": "read", "PATCH": "admin", "DELETE": "admin"}

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


class GuidelineVersions(PagedView):
    """The versions of a project's guidelines."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_guideline_versions", responses=Page[GuidelineVersionRow])
    def get(self, request: Request, slug: str) -> Response:
        """All versions of the guidelines with their examples, latest first. To add one, change the project."""
        versions = find_project(request.user, slug).guideline_versions.select_related("created_by")
        return self.page_of(versions, request, GuidelineVersionRow.of)
