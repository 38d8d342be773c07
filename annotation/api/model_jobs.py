"""Work on a model that takes minutes: how far it is, cancelling it, and asking for audits."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import MessageField
from annotation.api.model_versions import find_version
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import STAFF, require_role, visible_projects
from annotation.loop.model_jobs.jobs import request_audit
from annotation.models import ModelJob
from prm.messages import Message


class ModelJobSerializer(serializers.ModelSerializer):
    """An audit, an export or an import. `said` is the last thing the library wrote, `error` why it failed."""

    folder = serializers.CharField(
        source="options.folder", default=None, allow_null=True, read_only=True, help_text="Of an import."
    )
    said = MessageField()
    error = MessageField()

    class Meta:
        model = ModelJob
        fields = [
            "id", "kind", "state", "model_version", "folder", "said", "error", "attempts", "cancel_requested",
            "created_at", "started_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class ModelJobDetail(APIView):
    """One job on a model."""

    @extend_schema(operation_id="get_model_job", responses=ModelJobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """How far it is; for reviewers and managers."""
        return Response(ModelJobSerializer(_find(request, job_id)).data)


class CancelModelJob(APIView):
    """Cancelling a job on a model."""

    @extend_schema(operation_id="cancel_model_job", request=None, responses=ModelJobSerializer)
    def post(self, request: Request, job_id: int) -> Response:
        """End it, within seconds where a worker is at it; the model stays as it was. A manager may."""
        return Response(ModelJobSerializer(cancel_job(by=caller(request), job=_find(request, job_id))).data)


class Audit(APIView):
    """Auditing a version."""

    @extend_schema(operation_id="audit_model", request=None, responses={202: ModelJobSerializer})
    def post(self, request: Request, version_id: int) -> Response:
        """Audit it on the holdout that it was measured on; the findings are then `audits` of it. A manager may."""
        job = request_audit(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobSerializer(job).data, status=202)


def _find(request: Request, job_id: int) -> ModelJob:
    jobs = ModelJob.objects.select_related("project", "model_version")
    job = jobs.filter(pk=job_id, project__in=visible_projects(request.user)).first()
    if job is None:
        raise Missing("job_not_found", Message("job_not_found"))
    require_role(request.user, job.project, *STAFF)
    return job
