"""Training runs: the list, what is known of the next one, and the button that begins one."""

from typing import Any

from django import forms
from django.db.models import QuerySet
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
from labelling_ui.pages.listing import Column, Filters, Listing, respond


class RunFilters(Filters):
    state = forms.ChoiceField(
        choices=[words.ALL, *TrainingRun.State.choices],
        required=False,
        label=gettext_lazy("State"),
    )

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(**self.chosen())


COLUMNS = [
    Column("run", gettext_lazy("Run"), lambda r: r.number, sort="number"),
    Column("state", gettext_lazy("State"), lambda r: r.state, sort="state"),
    Column("started_by", gettext_lazy("Started by"), lambda r: r.get_trigger_display(), sort="trigger"),
    Column("started", gettext_lazy("Started"), lambda r: r.created_at.isoformat(), sort="created_at"),
    Column("seconds", gettext_lazy("Took"), lambda r: _seconds(r), number=True),
    Column("model", gettext_lazy("Model"), lambda r: r.model_version and r.model_version.number, number=True),
    Column("outcome", gettext_lazy("Outcome"), lambda r: r.outcome),
]


@project_page(*STAFF)
def runs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.training_runs.select_related("model_version", "requested_by").prefetch_related("stages")
    listing = Listing(request, rows, COLUMNS, sort="-run", filters=RunFilters(request.GET))
    for run in listing.page.object_list:
        run.took = _seconds(run)
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


def _seconds(run: TrainingRun) -> float | None:
    if not run.started_at:
        return None
    return ((run.finished_at or timezone.now()) - run.started_at).total_seconds()
