"""Imports: start one or several, list them, download the records that one refused."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

import msgspec
from django.conf import settings
from django.core.files.uploadedfile import UploadedFile
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, invalid, read_body, read_form
from annotation.api.downloads import download
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, one_of
from annotation.core.errors import DomainError, translated_format_errors
from annotation.core.lifecycle import find_job
from annotation.core.membership.access import find_project, find_visible
from annotation.files.import_jobs import (
    Manner,
    import_files,
    import_from_root,
    import_uploads,
    read_options,
    summary_of,
)
from annotation.files.rejections import original_lines, rejected_lines
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportGroup, ImportJob, ImportOptions, Membership
from prm.faults import sentence_of
from prm.formats.mapping import parse_mapping
from prm.formats.registry import FORMATS
from prm.messages import Message
from prm.splitting import RULES

MOST_OF_A_NAME = 300  # characters

Format = Annotated[str, one_of(["auto", *FORMATS])]
Decomposition = Annotated[str, one_of(RULES)]


class ImportRow(JobRow):
    """One file on its way in. `done_records` are accepted, duplicate or rejected."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)

    filename: str
    format: str
    decomposition: str
    options: Annotated[dict[str, Any], Meta(description="`mapping`, `thinking`; defaults are left out.")]
    total_bytes: Count
    done_bytes: Count
    done_records: Count
    accepted: Count
    duplicates: Count
    rejected: Count
    annotations: Count
    warnings: Annotated[list[str], Meta(description="What was taken in and should be looked at, in sentences.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, warnings=warnings_in_words(row.warnings), **others)


class FileToImport(msgspec.Struct):
    file: Annotated[Any, Meta(extra_json_schema={"type": "string", "format": "binary"})]
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[
        str,
        Meta(description="JSON that maps the columns of a table. Without it, Stepmark guesses from their names."),
    ] = ""
    options: Annotated[
        str,
        Meta(
            description="JSON of `annotator` (who gave the labels that name no annotator), `labelled_by` (file, "
            "model_judge, monte_carlo, heuristic, simulated), `empty_steps` (keep, refuse), `source_groups` (template, "
            "text) and `thinking` (separate, drop, keep: hidden reasoning in solutions that come as one text)."
        ),
    ] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.file, UploadedFile) or len(self.file.name or "") > MOST_OF_A_NAME:
            raise invalid("file", Message("file_needed", n=MOST_OF_A_NAME))


@translated_format_errors()
def options_in(mapping: str, options: str) -> ImportOptions:
    """The options of an import from their JSON. Raises DomainError (`invalid_mapping`, `invalid_options`)."""
    try:
        fields = msgspec.json.decode(options or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise DomainError(
            Message("import_options_invalid", reason=sentence_of(error)), {"field": "options"}, code="invalid_options"
        ) from None
    parsed = read_options(fields)
    return msgspec.structs.replace(parsed, mapping=parse_mapping(mapping)) if mapping else parsed


class Imports(PagedView):
    """The imports of a project."""

    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="list_imports", request=None, responses=Page[ImportRow])
    def get(self, request: Request, slug: str) -> Response:
        """The imports of the project, the latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        jobs = ImportJob.objects.filter(project=project).select_related("project", "requested_by")
        return self.page_of(jobs, request, ImportRow.of)

    @extend_schema(
        operation_id="import_files",
        request={"multipart/form-data": FileToImport},
        responses={202: ImportRow},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file; a worker takes it in. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        form = read_form(request, FileToImport)
        manner = Manner(form.format, form.decomposition, options_in(form.mapping, form.options))
        files = [(form.file.name, form.file.chunks())]
        [job] = import_files(by=caller(request), project=project, files=files, manner=manner)
        return Response(ImportRow.of(job), status=202)


class Rejections(APIView):
    """What an import refused."""

    @extend_schema(operation_id="get_rejections", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, job_id: int) -> StreamingHttpResponse:
        """The first 10,000 refused records as JSON Lines of `{line, field, reason, excerpt}`. A manager may."""
        job = _find(request, slug, job_id)
        name = f"import-{job.pk}-rejections.jsonl"
        return download(rejected_lines(job), name=name, content_type="application/x-ndjson")


class RejectedOriginals(APIView):
    """What an import refused, as it was sent."""

    @extend_schema(
        operation_id="get_rejected_originals", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, slug: str, job_id: int) -> StreamingHttpResponse:
        """The refused records as they stand in the file, one a line, to be mended and sent again. A manager may."""
        job = _find(request, slug, job_id)
        return download(
            original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson"
        )


def _find(request: Request, slug: str, job_id: int) -> ImportJob:
    job = find_job(find_project(request.user, slug, Membership.Role.MANAGER), ImportJob.KIND, job_id)
    assert isinstance(job, ImportJob)
    return job


class FilesToImport(msgspec.Struct):
    """Which files to take in: `uploads` that are whole, or `path` (a file, folder or pattern) in a `storage`."""

    uploads: Annotated[list[UUID], Meta(max_length=10_000)] = []
    storage: Annotated[str, Meta(description="The name of an import root.")] = ""
    path: Annotated[str, Meta(max_length=1000)] = ""
    name: Annotated[str, Meta(max_length=300)] = ""
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[str, Meta(description="JSON, as for one import.")] = ""
    options: Annotated[str, Meta(description="JSON, as for one import.")] = ""

    def __post_init__(self) -> None:
        if bool(self.uploads) == bool(self.storage):
            raise ValueError(Message("uploads_or_storage"))


class GroupSummary(msgspec.Struct):
    """All files of a group together; `live` of them are not at their end."""

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
    """Files that were sent together."""

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
    """The imports that were started; `group` is null for one file."""

    group: Id | None
    imports: list[ImportRow]


class ImportRoot(msgspec.Struct):
    """A place that the operator lets people import from; what opens it stays on the server."""

    name: str
    url: str


class ImportGroups(APIView):
    """Starting imports of several files."""

    @extend_schema(operation_id="import_filess", request=FilesToImport, responses={202: StartedImports})
    def post(self, request: Request, slug: str) -> Response:
        """Take in files that lie on the server already. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, FilesToImport)
        manner = Manner(body.format, body.decomposition, options_in(body.mapping, body.options))
        by = caller(request)
        if body.uploads:
            jobs = import_uploads(by=by, project=project, uploads=body.uploads, manner=manner, name=body.name)
        else:
            jobs = import_from_root(by=by, project=project, root=body.storage, path=body.path, manner=manner)
        return Response(StartedImports(jobs[0].group_id, [ImportRow.of(job) for job in jobs]), status=202)


class ImportGroupDetail(APIView):
    """One group of imports."""

    @extend_schema(operation_id="get_import_group", responses=ImportGroupRow)
    def get(self, request: Request, group_id: int) -> Response:
        """The report of each file and their sum. A manager may."""
        otherwise = Message("import_group_not_found", group_id=group_id)
        group = find_visible(request.user, ImportGroup.objects.all(), group_id, otherwise, Membership.Role.MANAGER)
        return Response(ImportGroupRow.of(group))


class ImportRoots(APIView):
    """Where imports may come from, beside uploads."""

    @extend_schema(operation_id="list_import_roots", responses=list[ImportRoot])
    def get(self, request: Request, slug: str) -> Response:
        """The roots that the operator configured. A manager may."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([ImportRoot(name, root["url"]) for name, root in settings.IMPORT_ROOTS.items()])
