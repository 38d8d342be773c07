"""Models as Hugging Face folders: start an export, watch it, download it."""

from typing import Annotated

import msgspec
from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.downloads import download
from annotation.api.model_jobs import ModelJobRow
from annotation.api.model_versions import find_version
from annotation.loop.model_jobs.exporting import export_name, export_path, packed_export
from annotation.loop.model_jobs.jobs import request_export
from annotation.models import Membership, ModelJob


class ModelExportState(msgspec.Struct):
    ready: Annotated[bool, Meta(description="Whether an export can be downloaded; it may be an earlier one.")]
    job: Annotated[ModelJobRow | None, Meta(description="The latest export job.")]


class ModelExport(APIView):
    """The export of a model."""

    @extend_schema(operation_id="get_model_export", responses=ModelExportState)
    def get(self, request: Request, version_id: int) -> Response:
        """Whether the export can be downloaded, and its progress. Managers only."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        job = version.jobs.filter(kind=ModelJob.Kind.EXPORT).first()
        return Response(ModelExportState(export_path(version).is_dir(), ModelJobRow.of(job) if job else None))

    @extend_schema(operation_id="export_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Start a job that writes the folder, replacing an earlier one. Managers only."""
        job = request_export(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)


class DownloadModel(APIView):
    """The export as a file."""

    @extend_schema(
        operation_id="download_model", request=None, responses={(200, "application/x-tar"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, version_id: int) -> StreamingHttpResponse:
        """The latest exported folder, as a tar file. Managers only."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        return download(packed_export(version), name=f"{export_name(version)}.tar", content_type="application/x-tar")
