"""Training runs: the list, what is known of the next one, and the button that begins one."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect
from django.utils import timezone
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.core.errors import DomainError
from annotation.core.wording import in_words
from annotation.loop.rounds.runs import check_labels, request_run
from annotation.loop.schedule.automatic import outlook
from annotation.models import Membership, Project, TrainingRun
from labelling_ui import words
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Number, State, When
from labelling_ui.pages.listing import Filters, Listing, respond


def _seconds(run: TrainingRun) -> float | None:
    if not run.started_at:
        return None
    return ((run.finished_at or timezone.now()) - run.started_at).total_seconds()


def _started_by(run: TrainingRun) -> str | None:
    """The person who asked for it, or what began it."""
    if run.trigger != TrainingRun.Trigger.MANUAL:
        return run.trigger
    return run.requested_by.username if run.requested_by else None


COLUMNS = [
    Column("run", gettext_lazy("Run"), "number", sort=True, link="run", heading=True),
    State("state", gettext_lazy("State"), sort=True, choices=TrainingRun.State.choices, filtered=True),
    Choice("started_by", gettext_lazy("Started by"), _started_by, sort="trigger", choices=words.TRIGGERS),
    When("started", gettext_lazy("Started"), "created_at", sort=True),
    Duration("seconds", gettext_lazy("Took"), _seconds),
    Number("model", gettext_lazy("Model"), "model_version__number", link="model", write=str),
    Column("outcome", gettext_lazy("Outcome"), write=in_words, look="gate-text"),
]


@project_page(*STAFF)
def runs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.training_runs.select_related("model_version", "requested_by").prefetch_related("stages")
    listing = Listing(request, rows, COLUMNS, sort="-run", filters=Filters(request.GET, COLUMNS))
    context = {"member": member, "outlook": outlook(member.project), **retraining(member.project)}
    return respond(request, "labelling_ui/runs.html", listing, f"{member.project.slug}-runs", context)


def retraining(project: Project) -> dict[str, Any]:
    """What the retrain button needs: the run in progress, or why there can be none yet."""
    live = project.training_runs.filter(state__in=TrainingRun.LIVE).first()
    not_yet = ""
    if live is None:
        try:
            check_labels(project)
        except DomainError as error:
            not_yet = in_words(error.message)
    return {"live_run": live, "not_yet": not_yet}


@require_POST
@project_page(MANAGER)
def retrain(request: HttpRequest, member: Membership) -> HttpResponseBase:
    run = attempt(request, "", request_run, project=member.project, trigger=TrainingRun.Trigger.MANUAL)
    return redirect("run", member.project.slug, run.number) if run else redirect("runs", member.project.slug)
