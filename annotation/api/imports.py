"""Imports: start one from an uploaded file, watch it, cancel it, download the rejected records."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
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
from annotation.api.boundary import Row, invalid, read_form
from annotation.api.downloads import download
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id, one_of
from annotation.core.errors import DomainError, Missing, translated_format_errors
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.files.import_jobs import ImportProgress, progress_of, read_options, start_import
from annotation.files.rejections import original_lines, rejected_lines
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportJob, ImportOptions, Membership
from prm.faults import sentence_of
from prm.formats.mapping import parse_mapping
from prm.formats.registry import FORMATS
from prm.messages import Message
from prm.splitting import RULES

MOST_OF_A_NAME = 300  # characters

Format = Annotated[str, one_of(["auto", *FORMATS])]
Decomposition = Annotated[str, one_of(RULES)]


class ImportRow(Row):
    """The import of one file. `done_records` are accepted, duplicate or rejected."""

    id: Id
    project: str
    filename: str
    format: str
    decomposition: str
    options: Annotated[dict[str, Any], Meta(description="`mapping` and `thinking`, without defaults.")]
    state: ImportJob.State
    error: str
    total_bytes: Count
    done_bytes: Count
    done_records: Count
    accepted: Count
    duplicates: Count
    rejected: Count
    annotations: Count
    warnings: Annotated[list[str], Meta(description="Warnings about imported records, as sentences.")]
    cancel_requested: bool
    progress: ImportProgress
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        warnings = warnings_in_words(row.warnings)
        return super().of(row, project=row.project.slug, progress=progress_of(row), warnings=warnings, **others)


class FileToImport(msgspec.Struct):
    file: Annotated[Any, Meta(extra_json_schema={"type": "string", "format": "binary"})]
    format: Format = "auto"
    decomposition: Decomposition = "blank_lines"
    mapping: Annotated[
        str,
        Meta(description="JSON that maps the columns of a table. Default: a guess from the column names."),
    ] = ""
    options: Annotated[
        str,
        Meta(
            description="JSON of `annotator` (for labels that name no annotator), `labelled_by` (file, "
            "model_judge, monte_carlo, heuristic, simulated), `empty_steps` (keep, refuse), `source_groups` (template, "
            "text) and `thinking` (separate, drop, keep: what to do with hidden reasoning in undivided solutions)."
        ),
    ] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.file, UploadedFile) or len(self.file.name or "") > MOST_OF_A_NAME:
            raise invalid("file", Message("file_needed", n=MOST_OF_A_NAME))


@translated_format_errors()
def options_in(mapping: str, options: str) -> ImportOptions:
    """The options of an import from their JSON. Raises DomainError (`invalid_mapping`, `invalid_options`)."""
    try:
        given = msgspec.json.decode(options or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise DomainError(
            Message("import_options_invalid", reason=sentence_of(error)), {"field": "options"}, code="invalid_options"
        ) from None
    found = read_options(given)
    return msgspec.structs.replace(found, mapping=parse_mapping(mapping)) if mapping else found


class Imports(PagedView):
    """The imports of a project."""

    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="list_imports", request=None, responses=Page[ImportRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's imports, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        jobs = ImportJob.objects.filter(project=project).select_related("project")
        return self.page_of(jobs, request, ImportRow.of)

    @extend_schema(
        operation_id="start_import",
        request={"multipart/form-data": FileToImport},
        responses={202: ImportRow},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file and start a job that imports it. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_form(request, FileToImport)
        job = start_import(
            by=caller(request),
            project=project,
            file=asked.file.chunks(),
            filename=asked.file.name,
            format=asked.format,
            decomposition=asked.decomposition,
            options=options_in(asked.mapping, asked.options),
        )
        return Response(ImportRow.of(job), status=202)


class ImportDetail(APIView):
    """One import."""

    @extend_schema(operation_id="get_import", responses=ImportRow)
    def get(self, request: Request, import_id: int) -> Response:
        """Progress of the import. Managers only."""
        return Response(ImportRow.of(_find(request, import_id)))


class CancelImport(APIView):
    """Cancelling an import."""

    @extend_schema(operation_id="cancel_import", request=None, responses=ImportRow)
    def post(self, request: Request, import_id: int) -> Response:
        """Stop the import. Records imported so far remain. Managers only."""
        return Response(ImportRow.of(cancel_job(by=caller(request), job=_find(request, import_id))))


class Rejections(APIView):
    """The records that an import rejected."""

    @extend_schema(operation_id="get_rejections", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The first 10,000 rejected records as JSON Lines of `{line, field, reason, excerpt}`. Managers only."""
        job = _find(request, import_id)
        name = f"import-{job.pk}-rejections.jsonl"
        return download(rejected_lines(job), name=name, content_type="application/x-ndjson")


class RejectedOriginals(APIView):
    """The records that an import rejected, as in the file."""

    @extend_schema(
        operation_id="get_rejected_originals", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The rejected records as in the file, one per line, to correct and import again. Managers only."""
        job = _find(request, import_id)
        return download(
            original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson"
        )


def _find(request: Request, import_id: int) -> ImportJob:
    jobs = ImportJob.objects.select_related("project").filter(project__in=visible_projects(request.user))
    job = jobs.filter(pk=import_id).first()
    if job is None:
        raise Missing(Message("import_not_found", import_id=import_id))
    require_role(request.user, job.project, Membership.Role.MANAGER)
    return job
