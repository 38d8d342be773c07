"""A project's jobs of every kind."""

from datetime import datetime
from typing import Annotated, Any, Self

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF, find_project
from annotation.models import JobEntry, SamplingRun


class JobRow(Row):
    """`failure` is the code of the error that `outcome` describes."""

    id: Annotated[int, Meta(description="Unique among the jobs of its kind.")]
    kind: str
    state: SamplingRun.State
    requested_by: Annotated[str | None, Meta(description="Null for a job that started automatically.")]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: Annotated[float | None, Meta(description="Share done, from 0 to 1; null if unknown.")]
    attempts: Annotated[Count, Meta(description="Successive attempts without progress.")]
    retries: Annotated[Count, Meta(description="Number of times a person resumed it.")]
    failure: str
    outcome: str

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        job = row.job
        return super().of(
            row,
            id=row.job_id,
            requested_by=row.requested_by and row.requested_by.username,
            progress=job.share,
            attempts=job.attempts,
            retries=job.retries,
            failure=job.failure,
            outcome=job.outcome,
            **others,
        )


class Jobs(PagedView):
    """The background work of a project."""

    @extend_schema(operation_id="list_jobs", responses=Page[JobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's jobs of every kind, latest first. Reviewers and managers only."""
        rows = JobEntry.objects.filter(project=find_project(request.user, slug, *STAFF))
        return self.page_of(rows.select_related("requested_by"), request, JobRow.of)
