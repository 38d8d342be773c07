"""Jobs of every kind: the list, and the actions cancel and resume."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.lifecycle import cancel_job, find_job, load_jobs
from annotation.core.wording import in_words
from annotation.loop import resuming
from annotation.models import JobEntry, Membership, ModelJob, PoolScoring, SamplingRun
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Share, State, When
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.pages.runs import seconds_of


@dataclass(frozen=True)
class Kind:
    """`label` names a kind, `name` a job of it; `page` is where a job is watched."""

    label: Any
    page: Callable[[Any], str]
    name: Callable[[Any], object] = lambda job: ""


def _model_page(job: ModelJob | PoolScoring) -> str:
    version, slug = job.model_version, job.project.slug
    return reverse("model", args=[slug, version.number]) if version else reverse("models", args=[slug])


KINDS = {
    "run": Kind(
        _("Run"),
        lambda job: reverse("run", args=[job.project.slug, job.number]),
        lambda job: job.number,
    ),
    "pool": Kind(_("Pool scoring"), _model_page, lambda job: job.model_version.number),
    "model": Kind(
        _("Model"),
        _model_page,
        lambda job: f"{job.model_version.number if job.model_version else ''} {job.get_kind_display().lower()}".strip(),
    ),
    "simulation": Kind(
        _("Simulation"),
        lambda job: reverse("simulation", args=[job.project.slug, job.pk]),
        lambda job: job.pk,
    ),
    "sampling": Kind(
        _("Sampling"),
        lambda job: reverse("sampling-run", args=[job.pk]),
        lambda job: job.model,
    ),
    "judging": Kind(
        _("Judging"),
        lambda job: reverse("judging-run", args=[job.project.slug, job.pk]),
        lambda job: job.model,
    ),
    "import": Kind(_("Import"), lambda job: reverse("import-job", args=[job.pk]), lambda job: job.filename),
    "export": Kind(
        _("Export"),
        lambda job: reverse("export-job", args=[job.project.slug, job.pk]),
        lambda job: job.schedule or job.target,
    ),
    "overlap": Kind(
        _("Contamination check"),
        lambda job: reverse("contamination", args=[job.project.slug, job.snapshot_id]),
        lambda job: job.filename,
    ),
    "fit": Kind(
        _("Consensus fit"),
        lambda job: reverse("consensus-fit", args=[job.project.slug, job.number]),
        lambda job: job.number,
    ),
    "answers": Kind(_("Answer check"), lambda job: reverse("answers", args=[job.project.slug])),
}
COLUMNS = [
    Choice(
        "kind",
        _("Job"),
        sort=True,
        heading=True,
        choices=[(name, kind.label) for name, kind in KINDS.items()],
        filtered=True,
    ),
    Column("name", _("Name"), lambda row: KINDS[row.kind].name(row.job)),
    State("state", _("State"), sort=True, choices=SamplingRun.State.choices, filtered=True),
    Column("requested_by", _("Requested by"), "requested_by__username"),
    When("asked", _("Requested"), "created_at", sort=True),
    Duration("seconds", _("Duration"), seconds_of),
    Share("progress", _("Done"), "job__share", help=_("How much of the job is done.")),
    Column("outcome", _("Outcome"), "job__outcome", write=in_words, look="gate-text"),
]


@project_page(*STAFF)
def jobs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = JobEntry.objects.filter(project=member.project).select_related("requested_by")
    listing = Listing(request, rows, COLUMNS, sort="-asked", filters=Filters(request.GET, COLUMNS))
    load_jobs(listing)
    for row in listing:
        row.page, row.resumes = KINDS[row.kind].page(row.job), resuming.can_resume(row.job)
    return respond(request, "labelling_ui/jobs.html", listing, "jobs")


@project_action(MANAGER)
def cancel(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job = find_job(member.project, kind, job_id)
    attempt(request, "", cancel_job, job=job)  # the page says that the job stops until it has
    return redirect(KINDS[kind].page(job))


@project_action(MANAGER)
def resume(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job = find_job(member.project, kind, job_id)
    attempt(request, gettext("The job resumes with the remaining work."), resuming.resume, job=job)
    return redirect(KINDS[kind].page(job))
