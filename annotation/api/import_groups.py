"""Imports of several files at once, from uploads or from storage that the operator allows."""

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

import msgspec
from django.conf import settings
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body
from annotation.api.imports import Decomposition, Format, ImportRow, options_in
from annotation.core.bounds import Count, Id
from annotation.core.errors import Missing
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.files.groups import Manner, import_from_root, import_uploads, summary_of
from annotation.models import ImportGroup, Membership
from prm.messages import Message


class FilesToImport(msgspec.Struct):
    """The files to import: complete `uploads`, or a `path` (file, folder or pattern) in a `storage`."""

    uploads: Annotated[list[UUID], Meta(max_length=10_000)] = []
    storage: Annotated[str, Meta(description="The name of an import root.")] = ""
    path: Annotated[str, Meta(max_length=1000)] = ""
    name: Annotated[str, Meta(max_length=300)] = ""
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[str, Meta(description="JSON, as for a single import.")] = ""
    options: Annotated[str, Meta(description="JSON, as for a single import.")] = ""

    def __post_init__(self) -> None:
        if bool(self.uploads) == bool(self.storage):
            raise ValueError(Message("uploads_or_storage"))


class GroupSummary(msgspec.Struct):
    """Totals over the files of a group; `live` files are still being imported."""

    files: Count
    live: Count
    failed: Count
    accepted: Count
    duplicates: Count
    rejected: Count
    annotations: Count
    done_bytes: Count
    total_bytes: Count


class ImportGroupRow(Row):
    """Files that were imported together."""

    id: Id
    name: str
    created_at: datetime
    summary: GroupSummary
    imports: list[ImportRow]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        jobs = [ImportRow.of(job) for job in row.jobs.all()]
        return super().of(row, summary=GroupSummary(**summary_of(row)), imports=jobs, **others)


class StartedImports(msgspec.Struct):
    """The imports that were started. `group` is null for a single file."""

    group: Id | None
    imports: list[ImportRow]


class ImportRoot(msgspec.Struct):
    """A storage that the operator allows imports from. Its credentials stay on the server."""

    name: str
    url: str


class ImportGroups(APIView):
    """Starting imports of several files."""

    @extend_schema(operation_id="start_imports", request=FilesToImport, responses={202: StartedImports})
    def post(self, request: Request, slug: str) -> Response:
        """Import uploaded files or files in storage. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_body(request, FilesToImport)
        manner = Manner(asked.format, asked.decomposition, options_in(asked.mapping, asked.options))
        by = caller(request)
        if asked.uploads:
            jobs = import_uploads(by=by, project=project, uploads=asked.uploads, manner=manner, name=asked.name)
        else:
            jobs = import_from_root(by=by, project=project, root=asked.storage, path=asked.path, manner=manner)
        return Response(StartedImports(jobs[0].group_id, [ImportRow.of(job) for job in jobs]), status=202)


class ImportGroupDetail(APIView):
    """One group of imports."""

    @extend_schema(operation_id="get_import_group", responses=ImportGroupRow)
    def get(self, request: Request, group_id: int) -> Response:
        """The report of each file and the totals. Managers only."""
        groups = ImportGroup.objects.select_related("project").filter(project__in=visible_projects(request.user))
        group = groups.filter(pk=group_id).first()
        if group is None:
            raise Missing(Message("import_group_not_found", group_id=group_id))
        require_role(request.user, group.project, Membership.Role.MANAGER)
        return Response(ImportGroupRow.of(group))


class ImportRoots(APIView):
    """Storage that imports may read, besides uploads."""

    @extend_schema(operation_id="list_import_roots", responses=list[ImportRoot])
    def get(self, request: Request, slug: str) -> Response:
        """The import roots that the operator configured. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([ImportRoot(name, root["url"]) for name, root in settings.IMPORT_ROOTS.items()])
