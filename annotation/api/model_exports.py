"""A version as a Hugging Face folder: have it written, see how far that is, download it."""

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
    ready: Annotated[bool, Meta(description="Whether there is one to download, if an earlier one.")]
    job: Annotated[ModelJobRow | None, Meta(description="The latest writing of it.")]


class ModelExport(APIView):
    """The export of a version."""

    @extend_schema(operation_id="get_model_export", responses=ModelExportState)
    def get(self, request: Request, version_id: int) -> Response:
        """Whether it can be downloaded, and how far it is. A manager may."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        job = version.jobs.filter(kind=ModelJob.Kind.EXPORT).first()
        return Response(ModelExportState(export_path(version).is_dir(), ModelJobRow.of(job) if job else None))

    @extend_schema(operation_id="export_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Have the folder written, anew where there is one. A manager may."""
        job = request_export(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)


class DownloadModel(APIView):
    """The export as a file."""

    @extend_schema(
        operation_id="download_model", request=None, responses={(200, "application/x-tar"): OpenApiTypes.BINARY}
    )
    def get(self, request: Request, version_id: int) -> StreamingHttpResponse:
        """The folder that was last written, as a tar file. A manager may."""
        version = find_version(request, version_id, Membership.Role.MANAGER)
        return download(packed_export(version), name=f"{export_name(version)}.tar", content_type="application/x-tar")
