"""Work on a model that takes minutes: how far it is, and asking for audits."""

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.model_versions import find_version
from annotation.errors import Missing
from annotation.membership.access import STAFF, require_role, visible_projects
from annotation.models import ModelJob
from annotation.rounds.registry.jobs import request_audit


class ModelJobSerializer(serializers.ModelSerializer):
    """An audit, an export or an import. `said` is the last thing the library wrote, `error` why it failed."""

    folder = serializers.CharField(
        source="options.folder", default=None, allow_null=True, read_only=True, help_text="Of an import."
    )

    class Meta:
        model = ModelJob
        fields = [
            "id", "kind", "state", "model_version", "folder", "said", "error", "attempts", "created_at", "finished_at",
        ]  # fmt: skip
        read_only_fields = fields


class ModelJobDetail(APIView):
    """One job on a model."""

    @extend_schema(operation_id="get_model_job", responses=ModelJobSerializer)
    def get(self, request: Request, job_id: int) -> Response:
        """How far it is; for reviewers and managers."""
        jobs = ModelJob.objects.select_related("project")
        job = jobs.filter(pk=job_id, project__in=visible_projects(request.user)).first()
        if job is None:
            raise Missing("job_not_found", _("There is no such job, or you are not a member of its project."))
        require_role(request.user, job.project, *STAFF)
        return Response(ModelJobSerializer(job).data)


class Audit(APIView):
    """Auditing a version."""

    @extend_schema(operation_id="audit_model", request=None, responses={202: ModelJobSerializer})
    def post(self, request: Request, version_id: int) -> Response:
        """Audit it on the holdout that it was measured on; the findings are then `audits` of it. A manager may."""
        job = request_audit(by=caller(request), version=find_version(request, version_id))
        return Response(ModelJobSerializer(job).data, status=202)
