"""Jobs on models, and requests for audits."""

from typing import Annotated, Any, Self

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.job_rows import JobRow
from annotation.api.model_versions import find_version
from annotation.core.bounds import Id
from annotation.loop.model_jobs.jobs import request_audit
from annotation.models import ModelJob


class ModelJobRow(JobRow):
    """An audit, an export or an import. `said` is the last thing the library wrote."""

    action: ModelJob.Kind
    model_version: Id | None
    folder: Annotated[str | None, Meta(description="Of an import.")]
    said: str

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, action=row.kind, folder=row.options.get("folder"), **others)


class Audit(APIView):
    """Auditing a version."""

    @extend_schema(operation_id="audit_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Audit it on the holdout that it was measured on; the findings are then `audits` of it. A manager may."""
        job = request_audit(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)
