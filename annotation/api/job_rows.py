"""The fields that the API shows of every job."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from msgspec import Meta

from annotation.api.boundary import Row
from annotation.core.bounds import Count
from annotation.core.lifecycle import Progress, progress_of
from annotation.core.membership.access import STAFF
from annotation.models import SamplingRun


class JobRow(Row):
    """The fields of every job. Members with one of `roles` may read it."""

    roles: ClassVar[tuple[str, ...]] = STAFF
    paths: ClassVar[dict[str, str]] = {
        "kind": "KIND",
        "project": "project.slug",
        "requested_by": "requested_by.username",
    }

    id: Annotated[int, Meta(description="Unique among the jobs of its kind.")]
    kind: Annotated[str, Meta(description="The kind of job.")]
    project: Annotated[str, Meta(description="The address (slug) of the project.")]
    state: Annotated[SamplingRun.State, Meta(description="The state of the job.")]
    requested_by: Annotated[str | None, Meta(description="Null for a job that started automatically.")]
    created_at: Annotated[datetime, Meta(description="When it was requested.")]
    started_at: Annotated[datetime | None, Meta(description="When it was started; null before that.")]
    finished_at: Annotated[datetime | None, Meta(description="When it ended; null before that.")]
    progress: Annotated[Progress, Meta(description="How far the job is.")]
    attempts: Annotated[Count, Meta(description="Successive attempts without progress.")]
    retries: Annotated[Count, Meta(description="Number of times a person resumed it.")]
    cancel_requested: Annotated[bool, Meta(description="Whether somebody has asked for it to be cancelled.")]
    failure: Annotated[str, Meta(description="The code of the error.")]
    error: Annotated[str, Meta(description="Why it failed.")]
    outcome: Annotated[str, Meta(description="Details of its state or its result; empty if there are none.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, progress=progress_of(row), **others)
