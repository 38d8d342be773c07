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
from annotation.api.boundary import Row, read_body, read_form
from annotation.api.downloads import download
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, about, invalid, one_of
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
    """The import of one file. `done_records` are accepted, duplicate or rejected."""

    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)

    filename: str
    format: str
    decomposition: str
    options: Annotated[dict[str, Any], about("`mapping` and `thinking`, without defaults.")]
    total_bytes: Count
    done_bytes: Count
    done_records: Annotated[Count, about("Records that have been read.")]
    accepted: Annotated[Count, about("Number of accepted records.")]
    duplicates: Annotated[Count, about("Number of solutions that existed before.")]
    rejected: Annotated[Count, about("Number of records that were rejected.")]
    annotations: Count
    warnings: Annotated[list[str], about("Warnings about imported records, as sentences.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, warnings=warnings_in_words(row.warnings), **others)


class FileToImport(msgspec.Struct):
    file: Annotated[Any, Meta(extra_json_schema={"type": "string", "format": "binary"}), about("The file.")]
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[
        str,
        about("JSON that maps the columns of a table. Default: a guess from the column names."),
    ] = ""
    options: Annotated[
        str,
        Meta(
            description="JSON of `annotator` (for labels that name no annotator), `labelled_by` (file, "
            "model_judge, monte_carlo, heuristic, simulated), `empty_steps` (keep, refuse), `no_solution` (refuse, "
            "keep: the problem, to be sampled), `source_groups` (template, text) and `thinking` (separate, drop, keep: "
            "what to do with hidden reasoning in undivided solutions)."
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

    scopes = {"GET": "read", "POST": "admin"}
    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="list_imports", request=None, responses=Page[ImportRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's imports, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        jobs = ImportJob.objects.filter(project=project).select_related("project", "requested_by")
        return self.page_of(jobs, request, ImportRow.of)

    @extend_schema(
        operation_id="import_file",
        request={"multipart/form-data": FileToImport},
        responses={202: ImportRow},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file and start a job that imports it. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        form = read_form(request, FileToImport)
        manner = Manner(form.format, form.decomposition, options_in(form.mapping, form.options))
        files = [(form.file.name, form.file.chunks())]
        [job] = import_files(by=caller(request), project=project, files=files, manner=manner)
        return Response(ImportRow.of(job), status=202)


class Rejections(APIView):
    """The records that an import rejected."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_rejections", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def get(self, request: Request, slug: str, job_id: int) -> StreamingHttpResponse:
        """The first 10,000 rejected records as JSON Lines of `{line, field, reason, excerpt}`. Managers only."""
        job = _find(request, slug, job_id)
        name = f"import-{job.pk}-rejections.jsonl"
        return download(rejected_lines(job), name=name, content_type="application/x-ndjson")


class RejectedOriginals(APIView):
    """The records that an import rejected, as in the file."""

    scopes = {"GET": "read"}

    @extend_schema(
        operation_id="get_rejected_originals", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, slug: str, job_id: int) -> StreamingHttpResponse:
        """The rejected records as in the file, one per line, to correct and import again. Managers only."""
        job = _find(request, slug, job_id)
        return download(
            original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson"
        )


def _find(request: Request, slug: str, job_id: int) -> ImportJob:
    job = find_job(find_project(request.user, slug, Membership.Role.MANAGER), ImportJob.KIND, job_id)
    assert isinstance(job, ImportJob)
    return job


class FilesToImport(msgspec.Struct):
    """The files to import: complete `uploads`, or a `path` (file, folder or pattern) in a `storage`."""

    uploads: Annotated[list[UUID], Meta(max_length=10_000), about("The ids of complete uploads.")] = []
    storage: Annotated[str, about("The name of an import root.")] = ""
    path: Annotated[str, Meta(max_length=1000), about("A file, folder or pattern in the storage.")] = ""
    name: Annotated[str, Meta(max_length=300), about("A name for the group of files.")] = ""
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[str, about("JSON, as for a single import.")] = ""
    options: Annotated[str, about("JSON, as for a single import.")] = ""

    def __post_init__(self) -> None:
        if bool(self.uploads) == bool(self.storage):
            raise ValueError(Message("uploads_or_storage"))


class GroupSummary(msgspec.Struct):
    """Totals over the files of a group; `live` files are still being imported."""

    files: Annotated[Count, about("Number of files.")]
    live: Annotated[Count, about("Number of files that are still being imported.")]
    failed: Annotated[Count, about("Number of files whose import failed.")]
    accepted: Annotated[Count, about("Number of accepted records.")]
    duplicates: Annotated[Count, about("Number of solutions that existed before.")]
    rejected: Annotated[Count, about("Number of records that were rejected.")]
    annotations: Count
    done_bytes: Count
    total_bytes: Count


class ImportGroupRow(Row):
    """Files that were imported together."""

    id: Id
    name: str
    created_at: datetime
    summary: Annotated[GroupSummary, about("Totals over the files.")]
    imports: Annotated[list[ImportRow], about("The import of each file.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        jobs = [ImportRow.of(job) for job in row.jobs.select_related("project", "requested_by")]
        return super().of(row, summary=GroupSummary(**summary_of(row)), imports=jobs, **others)


class StartedImports(msgspec.Struct):
    """The imports that were started. `group` is null for a single file."""

    group: Annotated[Id | None, about("The id of the group; null for a single file.")]
    imports: Annotated[list[ImportRow], about("The import of each file.")]


class ImportRoot(msgspec.Struct):
    """A storage that the operator allows imports from. Its credentials stay on the server."""

    name: str
    url: Annotated[str, about("The address of the storage.")]


class ImportGroups(APIView):
    """Starting imports of several files."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="import_files", request=FilesToImport, responses={202: StartedImports})
    def post(self, request: Request, slug: str) -> Response:
        """Import uploaded files or files in storage. Managers only."""
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

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_import_group", responses=ImportGroupRow)
    def get(self, request: Request, group_id: int) -> Response:
        """The report of each file and the totals. Managers only."""
        otherwise = Message("import_group_not_found", group_id=group_id)
        group = find_visible(request.user, ImportGroup.objects.all(), group_id, otherwise, Membership.Role.MANAGER)
        return Response(ImportGroupRow.of(group))


class ImportRoots(APIView):
    """Storage that imports may read, besides uploads."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_import_roots", responses=list[ImportRoot])
    def get(self, request: Request, slug: str) -> Response:
        """The import roots that the operator configured. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response([ImportRoot(name, root["url"]) for name, root in settings.IMPORT_ROOTS.items()])
