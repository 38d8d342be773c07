"""The jobs of a project: list them, read one, cancel it, resume it."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.consensus_fits import FitRow
from annotation.api.exports import ExportJobRow
from annotation.api.imports import ImportRow
from annotation.api.job_rows import JobRow
from annotation.api.judgings import JudgingRow
from annotation.api.model_jobs import ModelJobRow
from annotation.api.outcomes import AnswerCheckRow
from annotation.api.paging import Page, PagedView
from annotation.api.runs import WatchedRun
from annotation.api.samplings import SamplingRow
from annotation.api.snapshots import ContaminationRow
from annotation.core.lifecycle import cancel_job, find_job, load_jobs
from annotation.core.membership.access import STAFF, find_project
from annotation.loop import resuming
from annotation.models import (
    AnswerCheck,
    ConsensusFit,
    ContaminationCheck,
    ExportJob,
    ImportJob,
    Job,
    JobEntry,
    JudgingRun,
    ModelJob,
    SamplingRun,
    TrainingRun,
)

# Kinds that show more than every job does.
ROWS: dict[str, type[JobRow]] = {
    AnswerCheck.KIND: AnswerCheckRow,
    ConsensusFit.KIND: FitRow,
    ContaminationCheck.KIND: ContaminationRow,
    ExportJob.KIND: ExportJobRow,
    ImportJob.KIND: ImportRow,
    JudgingRun.KIND: JudgingRow,
    ModelJob.KIND: ModelJobRow,
    SamplingRun.KIND: SamplingRow,
    TrainingRun.KIND: WatchedRun,
}
AnyJob = (
    AnswerCheckRow
    | ContaminationRow
    | ExportJobRow
    | FitRow
    | ImportRow
    | JudgingRow
    | ModelJobRow
    | SamplingRow
    | WatchedRun
    | JobRow
)


class Jobs(PagedView):
    """The background work of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_jobs", responses=Page[JobRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's jobs of every kind, latest first. Reviewers and managers only."""
        entries = JobEntry.objects.filter(project=find_project(request.user, slug, *STAFF))
        page, following = self.read_page(entries, request)
        return Response(Page(following, [JobRow.of(job) for job in load_jobs(page)]))


class JobDetail(APIView):
    """One job."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_job", responses=AnyJob)
    def get(self, request: Request, slug: str, kind: str, job_id: int) -> Response:
        """A job with the details of its kind. Reviewers and managers; what moves data: managers only."""
        return _answer(_find(request, slug, kind, job_id))


class CancelJob(APIView):
    """Cancelling a job."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="cancel_job", request=None, responses=AnyJob)
    def post(self, request: Request, slug: str, kind: str, job_id: int) -> Response:
        """End the job. A worker stops within seconds; finished work stays. Managers only."""
        return _answer(cancel_job(by=caller(request), job=_find(request, slug, kind, job_id)))


class ResumeJob(APIView):
    """Resuming a job."""

    scopes = {"POST": "train"}

    @extend_schema(operation_id="resume_job", request=None, responses={202: AnyJob})
    def post(self, request: Request, slug: str, kind: str, job_id: int) -> Response:
        """Enqueue the remaining work of a failed or cancelled job. Managers only.

        Rounds (the latest only), judgings, pool scorings, samplings and simulations can be resumed. For other kinds:
        404 `job_not_resumable`.
        """
        return _answer(resuming.resume(by=caller(request), job=_find(request, slug, kind, job_id)), status=202)


def _find(request: Request, slug: str, kind: str, job_id: int) -> Job:
    project = find_project(request.user, slug, *ROWS.get(kind, JobRow).roles)
    return find_job(project, kind, job_id)


def _answer(job: Job, *, status: int = 200) -> Response:
    return Response(ROWS.get(job.KIND, JobRow).of(job), status=status)
