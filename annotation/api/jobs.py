"""The jobs of a project, of every kind."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.fields import SaidField
from annotation.api.paging import PagedView
from annotation.core.membership.access import STAFF, find_project
from annotation.models import JobEntry


class JobSerializer(serializers.ModelSerializer):
    """`failure` is the code of the error that `outcome` says; `progress` is null where it is not known."""

    id = serializers.IntegerField(source="job_id", help_text="Among the jobs of its kind.")
    requested_by = serializers.CharField(
        source="requested_by.username", default=None, allow_null=True, help_text="Null for what began by itself."
    )
    progress = serializers.FloatField(source="job.share", allow_null=True, help_text="Share done, 0 to 1.")
    attempts = serializers.IntegerField(source="job.attempts", help_text="In succession, without getting on.")
    retries = serializers.IntegerField(source="job.retries", help_text="How often a person let it go on.")
    failure = serializers.CharField(source="job.failure")
    outcome = SaidField(source="job.outcome")

    class Meta:
        model = JobEntry
        fields = (
            "id", "kind", "state", "requested_by", "created_at", "started_at", "finished_at", "progress", "attempts",
            "retries", "failure", "outcome",
        )  # fmt: skip


class Jobs(PagedView):
    """What workers do for a project."""

    @extend_schema(operation_id="list_jobs", responses=JobSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """The project's jobs of every kind, the latest first; for reviewers and managers."""
        rows = JobEntry.objects.filter(project=find_project(request.user, slug, *STAFF))
        return self.page_of(rows.select_related("requested_by"), request, JobSerializer)
