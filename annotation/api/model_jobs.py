"""Jobs on a model: progress, cancelling, and starting an audit."""

from datetime import datetime
from typing import Annotated, Any, Self

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row
from annotation.api.model_versions import find_version
from annotation.core.bounds import Count, Id
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import STAFF, require_role, visible_projects
from annotation.loop.model_jobs.jobs import request_audit
from annotation.models import ModelJob
from prm.messages import Message


class ModelJobRow(Row):
    """An audit, an export or an import. `said` is the library's last output, `error` the reason for a failure."""

    id: Id
    kind: ModelJob.Kind
    state: ModelJob.State
    model_version: Id | None
    folder: Annotated[str | None, Meta(description="The imported folder.")]
    said: str
    error: str
    attempts: Count
    cancel_requested: bool
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, folder=row.options.get("folder"), **others)


class ModelJobDetail(APIView):
    """One job on a model."""

    @extend_schema(operation_id="get_model_job", responses=ModelJobRow)
    def get(self, request: Request, job_id: int) -> Response:
        """Progress of the job. Reviewers and managers only."""
        return Response(ModelJobRow.of(_find(request, job_id)))


class CancelModelJob(APIView):
    """Cancelling a job on a model."""

    @extend_schema(operation_id="cancel_model_job", request=None, responses=ModelJobRow)
    def post(self, request: Request, job_id: int) -> Response:
        """Cancel the job. A running job stops within seconds, and the model stays unchanged. Managers only."""
        return Response(ModelJobRow.of(cancel_job(by=caller(request), job=_find(request, job_id))))


class Audit(APIView):
    """Auditing a model."""

    @extend_schema(operation_id="audit_model", request=None, responses={202: ModelJobRow})
    def post(self, request: Request, version_id: int) -> Response:
        """Audit the model on the holdout that it was measured on. `audits` then has the findings. Managers only."""
        job = request_audit(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobRow.of(job), status=202)


def _find(request: Request, job_id: int) -> ModelJob:
    jobs = ModelJob.objects.select_related("project", "model_version")
    job = jobs.filter(pk=job_id, project__in=visible_projects(request.user)).first()
    if job is None:
        raise Missing(Message("job_not_found"))
    require_role(request.user, job.project, *STAFF)
    return job
