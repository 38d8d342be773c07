"""Jobs on models: audits, exports as a Hugging Face folder, imports of foreign models."""

from typing import Annotated, Any, Self

import msgspec
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.downloads import download
from annotation.api.job_rows import JobRow
from annotation.api.model_versions import find_version
from annotation.api.paging import Page, PagedView
from annotation.api.runs import RunRow
from annotation.core.bounds import Id, NonBlank, about
from annotation.core.membership.access import find_project
from annotation.loop.model_jobs.exporting import export_name, is_exported, packed_export
from annotation.loop.model_jobs.importing import importable_folders, request_measurement
from annotation.loop.model_jobs.jobs import request_audit, request_export, request_import
from annotation.models import Membership, ModelJob


class ModelJobRow(JobRow):
    """An audit, an export or an import. `message` is the last line that the library wrote."""

    action: Annotated[ModelJob.Kind, about("What the job does with the model.")]
    model_version: Id | None
    folder: Annotated[str | None, about("The folder of an import.")]
    message: Annotated[str, about("The last line that the library wrote.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, action=row.kind, folder=row.source and row.source.folder, **others)


class Audit(APIView):
    """Auditing a model."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="audit_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Audit the model on the holdout that it was measured on. `audits` then has the findings. Managers only."""
        job = request_audit(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)


class ModelExportState(msgspec.Struct):
    ready: Annotated[bool, about("Whether an export can be downloaded; it may be an earlier one.")]
    job: Annotated[ModelJobRow | None, about("The latest export job.")]


class ModelExport(APIView):
    """The export of a model."""

    scopes = {"GET": "read", "POST": "export"}

    @extend_schema(operation_id="get_model_export", responses=ModelExportState)
    def get(self, request: Request, version_id: int) -> Response:
        """Whether the export can be downloaded, and its progress. Managers only."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        job = version.jobs.filter(kind=ModelJob.Kind.EXPORT).first()
        return Response(ModelExportState(is_exported(version), ModelJobRow.of(job) if job else None))

    @extend_schema(operation_id="export_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Start a job that writes the folder, replacing an earlier one. Managers only."""
        job = request_export(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)


class DownloadModel(APIView):
    """The export as a file."""

    scopes = {"GET": "export"}

    @extend_schema(
        operation_id="download_model", request=None, responses={(200, "application/x-tar"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, version_id: int) -> StreamingHttpResponse:
        """The latest exported folder, as a tar file. Managers only."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        return download(packed_export(version), name=f"{export_name(version)}.tar", content_type="application/x-tar")


LONGEST_SEPARATOR = 100
MOST_CLASSES = 1000


class ModelFolder(msgspec.Struct):
    """`separator` and `good` are for token classifiers only."""

    folder: Annotated[NonBlank, Meta(max_length=255, description="One of the importable folders.")]
    separator: Annotated[str, Meta(min_length=1, max_length=LONGEST_SEPARATOR, description="Ends a step.")] = "\n"
    good: Annotated[int, Meta(ge=0, le=MOST_CLASSES, description="The class that means a correct step.")] = 1


class ModelImports(PagedView):
    """The imports of models into a project."""

    scopes = {"GET": "read", "POST": "train"}

    @extend_schema(operation_id="list_model_imports", responses=Page[ModelJobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's model imports, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        jobs = project.model_jobs.filter(kind=ModelJob.Kind.IMPORT).select_related("project", "requested_by")
        return self.page_of(jobs, request, ModelJobRow.of)

    @extend_schema(operation_id="import_model", request=ModelFolder, responses={202: ModelJobRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that imports a folder as a challenger, which the gate then measures. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        body = read_body(request, ModelFolder)
        job = request_import(by=caller(request), project=project, **msgspec.structs.asdict(body))
        return Response(ModelJobRow.of(job), status=202)


class ImportableModels(APIView):
    """The folders that can be imported."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_importable_models", responses=list[str])
    def get(self, request: Request, slug: str) -> Response:
        """The folders that the operator provides for import, by name. Managers only."""
        find_project(request.user, slug, Membership.Role.MANAGER)
        return Response(importable_folders())


class Measure(APIView):
    """Measuring an imported model."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="measure_model", request=None, responses={202: RunRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Start the round that measures the model without training, if the import could not. Managers only."""
        run = request_measurement(by=caller(request), version=find_version(request, version_id))
        return Response(RunRow.of(run), status=202)
