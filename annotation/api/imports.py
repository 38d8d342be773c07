"""Imports: start one from an uploaded file, watch it, cancel it, download what it refused."""

from typing import Any

import msgspec
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.downloads import download
from annotation.api.fields import JSONObjectField, MessageField
from annotation.api.paging import PagedView
from annotation.core.errors import DomainError, Missing, translated_format_errors
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import find_project, require_role, visible_projects
from annotation.core.wording import in_words
from annotation.files.import_jobs import progress_of, read_options, start_import
from annotation.files.rejections import original_lines, rejected_lines
from annotation.files.warnings import warnings_in_words
from annotation.models import ImportJob, ImportOptions, Membership
from prm.faults import sentence_of
from prm.formats.mapping import parse_mapping
from prm.formats.registry import FORMATS
from prm.messages import Message
from prm.splitting import RULES


class ProgressOfImportSerializer(serializers.Serializer):
    share = serializers.FloatField(help_text="Of the file's bytes, 0 to 1.")
    records_per_second = serializers.FloatField(allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)


class ImportSerializer(serializers.ModelSerializer):
    """One file on its way in. `done_records` are accepted, duplicate or rejected."""

    project = serializers.SlugField(source="project.slug", read_only=True)
    options = JSONObjectField(read_only=True, help_text="`mapping`, `thinking`; defaults are left out.")
    error = MessageField()
    progress = serializers.SerializerMethodField()
    warnings = serializers.SerializerMethodField()

    class Meta:
        model = ImportJob
        fields = (
            "id", "project", "filename", "format", "decomposition", "options", "state", "error", "total_bytes",
            "done_bytes", "done_records", "accepted", "duplicates", "rejected", "annotations", "warnings",
            "cancel_requested",
            "progress", "created_at", "started_at", "finished_at",
        )  # fmt: skip
        read_only_fields = fields

    @extend_schema(responses=ProgressOfImportSerializer)
    def get_progress(self, job: ImportJob) -> dict[str, float | None]:
        return dict(ProgressOfImportSerializer(progress_of(job)).data)

    def get_warnings(self, job: ImportJob) -> list[str]:
        """What was taken in and should be looked at, in sentences."""
        return [in_words(warning) for warning in warnings_in_words(job.warnings)]


class UploadSerializer(serializers.Serializer):
    file = serializers.FileField(max_length=300, allow_empty_file=True)
    format = serializers.ChoiceField(["auto", *FORMATS], default="auto")
    decomposition = serializers.ChoiceField(list(RULES), default="blank_lines")
    mapping = serializers.CharField(
        required=False,
        help_text="JSON that says what the columns of a table hold; without it they are told by their names.",
    )
    options = serializers.CharField(
        required=False,
        help_text="JSON of `annotator` (who gave the labels that name no annotator), `labelled_by` (file, model_judge, "
        "monte_carlo, heuristic, simulated), `empty_steps` (keep, refuse), `source_groups` (template, text) and "
        "`thinking` (separate, drop, keep: hidden reasoning in solutions that come as one text).",
    )


@translated_format_errors()
def options_in(mapping: str, options: str) -> ImportOptions:
    """The options of an import from their JSON. Raises DomainError (`invalid_mapping`, `invalid_options`)."""
    try:
        given = msgspec.json.decode(options or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise DomainError(
            "invalid_options", Message("import_options_invalid", reason=sentence_of(error)), {"field": "options"}
        ) from None
    found = read_options(given)
    return msgspec.structs.replace(found, mapping=parse_mapping(mapping)) if mapping else found


class Imports(PagedView):
    """The imports of a project."""

    parser_classes = (MultiPartParser,)

    @extend_schema(operation_id="list_imports", request=None, responses=ImportSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The imports of the project, the latest first. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        jobs = ImportJob.objects.filter(project=project).select_related("project")
        return self.page_of(jobs, request, ImportSerializer)

    @extend_schema(
        operation_id="start_import",
        request={"multipart/form-data": UploadSerializer},
        responses={202: ImportSerializer},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Upload a file; a worker takes it in. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        given = UploadSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        file = given.validated_data.pop("file")
        mapping, options = (given.validated_data.pop(name, "") for name in ("mapping", "options"))
        job = start_import(
            by=caller(request),
            project=project,
            file=file.chunks(),
            filename=file.name,
            options=options_in(mapping, options),
            **given.validated_data,
        )
        return Response(ImportSerializer(job).data, status=202)


class ImportDetail(APIView):
    """One import."""

    @extend_schema(operation_id="get_import", responses=ImportSerializer)
    def get(self, request: Request, import_id: int) -> Response:
        """How far the import is. A manager may."""
        return Response(ImportSerializer(_find(request, import_id)).data)


class CancelImport(APIView):
    """Cancelling an import."""

    @extend_schema(operation_id="cancel_import", request=None, responses=ImportSerializer)
    def post(self, request: Request, import_id: int) -> Response:
        """Stop the import; what is in stays. A manager may."""
        return Response(ImportSerializer(cancel_job(by=caller(request), job=_find(request, import_id))).data)


class Rejections(APIView):
    """What an import refused."""

    @extend_schema(operation_id="get_rejections", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY})
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The first 10,000 refused records as JSON Lines of `{line, field, reason, excerpt}`. A manager may."""
        job = _find(request, import_id)
        name = f"import-{job.pk}-rejections.jsonl"
        return download(rejected_lines(job), name=name, content_type="application/x-ndjson")


class RejectedOriginals(APIView):
    """What an import refused, as it was sent."""

    @extend_schema(
        operation_id="get_rejected_originals", responses={(200, "application/x-ndjson"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, import_id: int) -> StreamingHttpResponse:
        """The refused records as they stand in the file, one a line, to be mended and sent again. A manager may."""
        job = _find(request, import_id)
        return download(
            original_lines(job), name=f"import-{job.pk}-rejected.jsonl", content_type="application/x-ndjson"
        )


def _find(request: Request, import_id: int) -> ImportJob:
    jobs = ImportJob.objects.select_related("project").filter(project__in=visible_projects(request.user))
    job = jobs.filter(pk=import_id).first()
    if job is None:
        raise Missing("import_not_found", Message("import_not_found", import_id=import_id))
    require_role(request.user, job.project, Membership.Role.MANAGER)
    return job
