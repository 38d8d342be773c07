"""The fields that the API shows of every job."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self

from annotation.api.boundary import Row
from annotation.core.bounds import Count, about
from annotation.core.lifecycle import Progress, progress_of
from annotation.core.membership.access import STAFF
from annotation.models import Membership, SamplingRun


class JobRow(Row):
    """The fields of every job. Members with one of `roles` may read it."""

    roles: ClassVar[tuple[str, ...]] = STAFF
    paths: ClassVar[dict[str, str]] = {
        "kind": "KIND",
        "project": "project.slug",
        "requested_by": "requested_by.username",
    }

    id: Annotated[int, about("Unique among the jobs of its kind.")]
    kind: Annotated[str, about("The kind of job.")]
    project: Annotated[str, about("The address (slug) of the project.")]
    state: Annotated[SamplingRun.State, about("The state of the job.")]
    requested_by: Annotated[str | None, about("Null for a job that started automatically.")]
    created_at: Annotated[datetime, about("When it was requested.")]
    started_at: Annotated[datetime | None, about("When it was started; null before that.")]
    finished_at: Annotated[datetime | None, about("When it ended; null before that.")]
    progress: Annotated[Progress, about("How far the job is.")]
    attempts: Annotated[Count, about("Successive attempts without progress.")]
    retries: Annotated[Count, about("Number of times a person resumed it.")]
    cancel_requested: Annotated[bool, about("Whether somebody has asked for it to be cancelled.")]
    failure: Annotated[str, about("The code of the error.")]
    error: Annotated[str, about("Why it failed.")]
    outcome: Annotated[str, about("Details of its state or its result; empty if there are none.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, progress=progress_of(row), **others)


class EndpointRunRow(JobRow):
    roles: ClassVar[tuple[str, ...]] = (Membership.Role.MANAGER,)

    endpoint: str
    model: Annotated[str, about("The name of the model.")]
    prompt: Annotated[str, about("The prompt's template.")]
    temperature: float
    max_tokens: Count
    token_budget: Count
    seed: int
    note: Annotated[str, about("How the run ended, if there is more to report than its state.")]
    calls: Annotated[Count, about("Calls of the endpoint; in a judging run, those with a reply.")]
    prompt_tokens: Count
    completion_tokens: Count
