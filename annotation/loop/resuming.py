"""Resumes a job of any kind by the rules of its kind."""

from collections.abc import Callable

from django.contrib.auth.models import User

from annotation.core.errors import Conflict, Missing
from annotation.core.lifecycle import resume_job
from annotation.loop.judging.judging_runs import can_resume_judging, resume_judging
from annotation.loop.proof.simulations import resume_simulation
from annotation.loop.rounds.runs import check_resumable, resume_run
from annotation.loop.sampling.sampling_runs import can_resume_sampling, resume_sampling
from annotation.models import Job, JudgingRun, PoolScoring, SamplingRun, SimulationRun, TrainingRun
from prm.messages import Message

SERVICES: dict[str, Callable[..., Job]] = {
    JudgingRun.KIND: resume_judging,
    PoolScoring.KIND: resume_job,
    SamplingRun.KIND: resume_sampling,
    SimulationRun.KIND: resume_simulation,
    TrainingRun.KIND: resume_run,
}


def resume(*, by: User, job: Job) -> Job:
    """Enqueue the remaining work of a job that has ended.

    Raises as the service of its kind; Missing (`job_not_resumable`) for a kind without one.
    """
    service = SERVICES.get(job.KIND)
    if service is None:
        raise Missing(Message("job_not_resumable"))
    return service(by=by, job=job)


def can_resume(job: Job) -> bool:
    """Whether the job has ended with work left that a person may resume."""
    if isinstance(job, JudgingRun):
        return can_resume_judging(job)
    if isinstance(job, SamplingRun):
        return can_resume_sampling(job)
    if isinstance(job, TrainingRun):
        try:
            check_resumable(job)
        except Conflict:
            return False
        return True
    return job.KIND in SERVICES and job.state in (Job.State.FAILED, Job.State.CANCELLED)
