"""The buttons of a job, of whatever kind: cancel it, or go on with what is left of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import Http404, HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from annotation.core.lifecycle import cancel_job
from annotation.loop.proof.simulations import resume_simulation
from annotation.loop.sampling.sampling_runs import resume_sampling
from annotation.models import AnswerCheck, ImportJob, Job, Membership, ModelJob, SamplingRun, SimulationRun
from labelling_ui.pages.access import MANAGER, attempt, project_page


@dataclass(frozen=True)
class Kind:
    """`page` is where a job is watched."""

    model: type[Job]
    page: Callable[[Any], str]
    resume: Callable[..., Job] | None = None


def _model_page(job: ModelJob) -> str:
    version, slug = job.model_version, job.project.slug
    return reverse("model", args=[slug, version.number]) if version else reverse("models", args=[slug])


KINDS = {
    "import": Kind(ImportJob, lambda job: reverse("import-job", args=[job.pk])),
    "answers": Kind(AnswerCheck, lambda job: reverse("answers", args=[job.project.slug])),
    "sampling": Kind(SamplingRun, lambda job: reverse("sampling-run", args=[job.pk]), resume_sampling),
    "simulation": Kind(
        SimulationRun, lambda job: reverse("simulation", args=[job.project.slug, job.pk]), resume_simulation
    ),
    "model": Kind(ModelJob, _model_page),
}


@require_POST
@project_page(MANAGER)
def cancel(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job = _find(member, kind, job_id)
    attempt(request, _("It stops within a minute. What is done of it stays."), cancel_job, job=job)
    return redirect(KINDS[kind].page(job))


@require_POST
@project_page(MANAGER)
def resume(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job, service = _find(member, kind, job_id), KINDS[kind].resume
    if service is None:
        raise Http404("Nothing of this kind goes on.")
    attempt(request, _("It goes on with what is left."), service, job=job)
    return redirect(KINDS[kind].page(job))


def _find(member: Membership, kind: str, job_id: int) -> Any:
    if kind not in KINDS:
        raise Http404("There is no such kind of job.")
    return get_object_or_404(KINDS[kind].model, pk=job_id, project=member.project)
