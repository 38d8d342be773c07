"""Jobs of whatever kind: the list of them, and the buttons that cancel one or let it go on with what is left."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.core.lifecycle import cancel_job, find_job
from annotation.core.wording import in_words
from annotation.loop import resuming
from annotation.models import JobEntry, Membership, ModelJob, PoolScoring, SamplingRun
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Share, State, When
from labelling_ui.pages.listing import Filters, Listing, respond


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
        gettext_lazy("Run"),
        lambda job: reverse("run", args=[job.project.slug, job.number]),
        lambda job: job.number,
    ),
    "pool": Kind(gettext_lazy("Scores of the pool"), _model_page, lambda job: job.model_version.number),
    "model": Kind(
        gettext_lazy("Model"),
        _model_page,
        lambda job: f"{job.model_version.number if job.model_version else ''} {job.get_kind_display().lower()}".strip(),
    ),
    "simulation": Kind(
        gettext_lazy("Simulation"),
        lambda job: reverse("simulation", args=[job.project.slug, job.pk]),
        lambda job: job.pk,
    ),
    "sampling": Kind(
        gettext_lazy("Sampling"),
        lambda job: reverse("sampling-run", args=[job.pk]),
        lambda job: job.model,
    ),
    "import": Kind(gettext_lazy("Import"), lambda job: reverse("import-job", args=[job.pk]), lambda job: job.filename),
    "answers": Kind(gettext_lazy("Answer check"), lambda job: reverse("answers", args=[job.project.slug])),
}
COLUMNS = [
    Choice(
        "kind",
        gettext_lazy("Job"),
        sort=True,
        heading=True,
        choices=[(name, kind.label) for name, kind in KINDS.items()],
        filtered=True,
    ),
    Column("name", gettext_lazy("Of"), lambda row: KINDS[row.kind].name(row.job)),
    State("state", gettext_lazy("State"), sort=True, choices=SamplingRun.State.choices, filtered=True),
    Column("requested_by", gettext_lazy("Requested by"), "requested_by__username"),
    When("asked", gettext_lazy("Asked"), "created_at", sort=True),
    Duration("seconds", gettext_lazy("Took"), lambda row: _seconds(row)),
    Share("progress", gettext_lazy("Done"), "job__share"),
    Column("outcome", gettext_lazy("Outcome"), "job__outcome", write=in_words, look="gate-text"),
]


@project_page(*STAFF)
def jobs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = JobEntry.objects.filter(project=member.project).select_related("requested_by")
    listing = Listing(request, rows, COLUMNS, sort="-asked", filters=Filters(request.GET, COLUMNS))
    for row in listing:
        row.page, row.resumes = KINDS[row.kind].page(row.job), resuming.can_resume(row.job)
    return respond(request, "labelling_ui/jobs.html", listing, f"{member.project.slug}-jobs", {"member": member})


@require_POST
@project_page(MANAGER)
def cancel(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job = find_job(member.project, kind, job_id)
    attempt(request, _("It stops within a minute. What is done of it stays."), cancel_job, job=job)
    return redirect(KINDS[kind].page(job))


@require_POST
@project_page(MANAGER)
def resume(request: HttpRequest, member: Membership, kind: str, job_id: int) -> HttpResponseBase:
    job = find_job(member.project, kind, job_id)
    attempt(request, _("It goes on with what is left."), resuming.resume, job=job)
    return redirect(KINDS[kind].page(job))


def _seconds(row: JobEntry) -> float | None:
    return ((row.finished_at or timezone.now()) - row.started_at).total_seconds() if row.started_at else None
