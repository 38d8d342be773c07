"""Training runs: the list, one of them as it goes, and the buttons that start and stop them."""

from typing import Any

from django import forms
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from annotation.errors import DomainError
from annotation.models import Membership, Project, RunPoint, RunStage, TrainingRun
from annotation.rounds.runs import cancel_run, check_labels, request_run
from labelling_ui import words
from labelling_ui.charts import Chart, Point, Series, gain_chart, line_chart
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_page, slug_of
from labelling_ui.pages.listing import Column, Filters, Listing, respond
from labelling_ui.selectors.costs import costs_of

LOG_LINES = 200
LOSS_POINTS = 120


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
    Column("started_by", gettext_lazy("Started by"), lambda r: r.trigger, sort="trigger"),
    Column("started", gettext_lazy("Started"), lambda r: r.created_at.isoformat(), sort="created_at"),
    Column("seconds", gettext_lazy("Took"), lambda r: _seconds(r), number=True),
    Column("model", gettext_lazy("Model"), lambda r: r.model_version and r.model_version.number, number=True),
    Column("outcome", gettext_lazy("Outcome"), lambda r: _outcome(r)),
]


@project_page(*STAFF)
def runs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    trained = RunStage.objects.filter(run=OuterRef("pk"), name=RunStage.Name.TRAIN, state=RunStage.State.SKIPPED)
    rows = member.project.training_runs.select_related("model_version", "requested_by").annotate(
        untrained=Subquery(trained.values("figure"))
    )
    listing = Listing(request, rows, COLUMNS, sort="-run", filters=RunFilters(request.GET))
    for run in listing.page.object_list:
        run.took, run.outcome = _seconds(run), _outcome(run)
    context = {"member": member, **retraining(member.project)}
    return respond(request, "labelling_ui/runs.html", listing, f"{member.project.slug}-runs", context)


def retraining(project: Project) -> dict[str, Any]:
    """What the retrain button needs: the run in progress, or why there can be none yet."""
    live = project.training_runs.filter(state__in=TrainingRun.LIVE).first()
    not_yet = ""
    if live is None:
        try:
            check_labels(project)
        except DomainError as error:
            not_yet = error.message
    return {"live_run": live, "not_yet": not_yet}


@require_POST
@project_page(MANAGER)
def retrain(request: HttpRequest, member: Membership) -> HttpResponseBase:
    run = attempt(request, "", request_run, project=member.project, trigger=TrainingRun.Trigger.MANUAL)
    return redirect("run", run.pk) if run else redirect("runs", member.project.slug)


def run(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _run_page(request, slug=slug_of(request, TrainingRun, run_id), run_id=run_id)


@require_POST
def cancel(request: HttpRequest, run_id: int) -> HttpResponseBase:
    return _cancel(request, slug=slug_of(request, TrainingRun, run_id), run_id=run_id)


@project_page(*STAFF)
def _run_page(request: HttpRequest, member: Membership, run_id: int) -> HttpResponse:
    run = get_object_or_404(
        TrainingRun.objects.select_related("model_version", "generation", "snapshot", "requested_by"),
        pk=run_id,
        project=member.project,
    )
    stages = list(run.stages.all())
    context = {
        "member": member,
        "tab": "runs",
        "run": run,
        "live": run.state in TrainingRun.LIVE,
        "stages": stages,
        "now": timezone.now(),
        "loss": _loss_chart(run),
        "gate": run.model_version.gate if run.model_version else {},
        "gain": _gain_chart(run),
        "costs": costs_of(run.model_version) if run.model_version else None,
        "log": run.points.order_by("-id")[:LOG_LINES],
    }
    template = "labelling_ui/run_live.html" if request.headers.get("HX-Request") else "labelling_ui/run.html"
    return render(request, template, context)


@project_page(MANAGER)
def _cancel(request: HttpRequest, member: Membership, run_id: int) -> HttpResponseBase:
    run = get_object_or_404(TrainingRun, pk=run_id, project=member.project)
    attempt(request, _("The run stops within seconds. What serves stays as it is."), cancel_run, run=run)
    return redirect("run", run.pk)


def _loss_chart(run: TrainingRun) -> Chart:
    """The training loss, thinned to what a screen can show."""
    losses = list(RunPoint.objects.filter(run=run, loss__isnull=False).values_list("step", "loss"))
    every = len(losses) // LOSS_POINTS + 1
    points = [Point(f"{step or 0}", loss) for step, loss in losses[::every]]
    return line_chart(
        _("Training loss"), [Series(_("loss"), "first", points)], places=_("step"), form=lambda x: f"{x:.3g}"
    )


def _gain_chart(run: TrainingRun) -> Chart | None:
    gate = run.model_version.gate if run.model_version else {}
    if gate.get("gain") is None:
        return None
    return gain_chart(
        _("Gain in holdout F1, in points"),
        gate["samples"],
        gain=gate["gain"],
        low=gate["low"],
        high=gate["high"],
        tolerance=gate["tolerance"],
    )


def _seconds(run: TrainingRun) -> float | None:
    if not run.started_at:
        return None
    return ((run.finished_at or timezone.now()) - run.started_at).total_seconds()


def _outcome(run: Any) -> str:
    """Why it failed, what the gate said, or why nothing was trained (`untrained`)."""
    said = run.model_version.gate.get("sentence") if run.model_version else run.untrained
    return str(run.error or said or "")
