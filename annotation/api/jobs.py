"""The jobs of a project, of every kind."""

from datetime import datetime
from typing import Annotated, Any, Self

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id
from annotation.core.membership.access import STAFF, find_project
from annotation.models import JobEntry, SamplingRun


class JobRow(Row):
    """`failure` is the code of the error that `outcome` says."""

    id: Annotated[Id, Meta(description="Among the jobs of its kind.")]
    kind: str
    state: SamplingRun.State
    requested_by: Annotated[str | None, Meta(description="Null for what began by itself.")]
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: Annotated[float | None, Meta(description="Share done, 0 to 1; null where that is not known.")]
    attempts: Annotated[Count, Meta(description="In succession, without getting on.")]
    retries: Annotated[Count, Meta(description="How often a person let it go on.")]
    failure: str
    outcome: str

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        job, by = row.job, row.requested_by
        told = {name: getattr(job, name) for name in ("attempts", "retries", "failure", "outcome")}
        return super().of(row, id=job.pk, requested_by=by and by.username, progress=job.share, **told, **others)


class Jobs(PagedView):
    """What workers do for a project."""

    @extend_schema(operation_id="list_jobs", responses=Page[JobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's jobs of every kind, the latest first; for reviewers and managers."""
        rows = JobEntry.objects.filter(project=find_project(request.user, slug, *STAFF))
        return self.page_of(rows.select_related("requested_by"), request, JobRow.of)
