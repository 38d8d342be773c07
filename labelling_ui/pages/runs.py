"""Training runs: the list, when the next one begins, and one run with its stages, log and files."""

from collections.abc import Iterator
from functools import partial
from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.api.downloads import download
from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.reading import read_rows
from annotation.core.wording import in_words
from annotation.loop.registry import forecast_gate
from annotation.loop.resuming import can_resume
from annotation.loop.rounds.artefacts import MODEL, RUN, TRAINER_LOG, artefacts_of, find_artefact, run_key
from annotation.loop.rounds.failures import SETTINGS, page_of
from annotation.loop.rounds.runs import check_labels, request_run
from annotation.loop.schedule.automatic import outlook
from annotation.models import JobEntry, Membership, Project, RunPoint, TrainingRun
from labelling_ui import words
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, gain_chart, line_chart
from labelling_ui.numbers import short
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Number, State, When
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.selectors.training import costs_of, progress_of_training
from labelling_ui.templatetags.figures import bytes_of


def seconds_of(job: TrainingRun | JobEntry) -> float | None:
    """The running time of a job in seconds."""
    return ((job.finished_at or timezone.now()) - job.started_at).total_seconds() if job.started_at else None


def _started_by(run: TrainingRun) -> str | None:
    """The person who requested the run, or its trigger."""
    if run.trigger != TrainingRun.Trigger.MANUAL:
        return run.trigger
    return run.requested_by.username if run.requested_by else None


COLUMNS = [
    Column("run", _("Run"), "number", sort=True, link="run", heading=True, term="run"),
    State("state", _("State"), sort=True, choices=TrainingRun.State.choices, filtered=True),
    Choice("started_by", _("Started by"), _started_by, sort="trigger", choices=words.TRIGGERS),
    When("started", _("Started"), "created_at", sort=True),
    Duration("seconds", _("Duration"), seconds_of),
    Number("model", _("Model"), "model_version__number", link="model", write=str),
    Column("outcome", _("Outcome"), write=in_words, look="gate-text"),
]


@project_page(*STAFF)
def runs(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = member.project.training_runs.select_related("model_version", "requested_by").prefetch_related("stages")
    listing = Listing(request, rows, COLUMNS, sort="-run", filters=Filters(request.GET, COLUMNS))
    cached = CachedFigures(request, member.project)
    context = {"outlook": outlook(member.project), **retraining(member.project, cached)}
    return respond(request, "labelling_ui/runs.html", listing, "runs", context)


def retraining(project: Project, cached: CachedFigures) -> dict[str, Any]:
    """The context of the retrain button: the run in progress or why none can start, and what the gate could see."""
    live = project.training_runs.filter(state__in=TrainingRun.LIVE).first()
    not_yet = ""
    if live is None:
        try:
            check_labels(project)
        except DomainError as error:
            not_yet = in_words(error.message)
    return {"live_run": live, "not_yet": not_yet, "power": cached("gate", partial(forecast_gate, project)).sentence}


@project_action(MANAGER)
def retrain(request: HttpRequest, member: Membership) -> HttpResponseBase:
    run = attempt(request, "", request_run, project=member.project, trigger=TrainingRun.Trigger.MANUAL)
    return redirect("run", member.project.slug, run.number) if run else redirect("runs", member.project.slug)


LOG_LINES = 200
LOSS_POINTS = 120
FILES = [
    Column("file", _("File"), "name", heading=True),
    Choice("area", _("From"), choices=[(MODEL, _("the model")), (RUN, _("run"))]),
    Number("size", _("Size"), "bytes", write=bytes_of),
]


@project_page(*STAFF)
def run(request: HttpRequest, member: Membership, number: int) -> HttpResponse:
    run = get_object_or_404(
        TrainingRun.objects.select_related("project", "model_version", "generation", "snapshot", "requested_by"),
        project=member.project,
        number=number,
    )
    context = {
        "run": run,
        "can_resume": can_resume(run),
        "remedy": _remedy(run),
        "stages": list(run.stages.all()),
        "now": timezone.now(),
        "training": progress_of_training(run),
        "loss": _loss_chart(run),
        "gain": _gain_chart(run),
        "costs": costs_of(run.model_version) if run.model_version else None,
        "files": Table(artefacts_of(run) if member.role == Membership.Role.MANAGER else [], FILES),
        "log": run.points.order_by("-id")[:LOG_LINES],
    }
    return render(request, "labelling_ui/run.html", context)


@project_page(*STAFF)
def log(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    """The whole log as a text file, with the trainer's last output."""
    run = get_object_or_404(TrainingRun, project=member.project, number=number)
    name = f"{member.project.slug}-run-{run.number}.log"
    return download(_lines(run), name=name, content_type="text/plain; charset=utf-8")


@project_page(MANAGER)
def artefact(request: HttpRequest, member: Membership, number: int, area: str, name: str) -> HttpResponseBase:
    run = get_object_or_404(TrainingRun, project=member.project, number=number)
    return FileResponse(find_artefact(run, area, name).open("rb"), as_attachment=True)


def _lines(run: TrainingRun) -> Iterator[str]:
    for point in read_rows(run.points.order_by("pk")):
        figures = {
            "loss": point.loss, "held": point.held_loss, "tokens/s": point.tokens_per_second, "use": point.utilisation
        }  # fmt: skip
        fields = "".join(f" {name}={value:.5g}" for name, value in figures.items() if value is not None)
        place = f" {point.step}/{point.of}" if point.of else ""
        yield f"{point.at.isoformat(timespec='seconds')} {point.stage}{place} {point.message}{fields}\n"
    trainer = storage.fetch(run_key(run), TRAINER_LOG) / TRAINER_LOG
    if trainer.exists():
        with trainer.open(errors="replace") as lines:
            yield from lines


def _remedy(run: TrainingRun) -> str:
    """The page where the cause of a failure can be fixed; "" if there is none."""
    page, slug = page_of(run.failure), run.project.slug
    if page == SETTINGS:
        return reverse("settings-page", args=[slug, "training"])
    return reverse(page, args=[slug]) if page else ""


def _loss_chart(run: TrainingRun) -> Chart:
    """A chart of training and validation loss, thinned to the width of a screen."""
    points = RunPoint.objects.filter(run=run, loss__isnull=False).values_list("step", "loss", "held_loss")
    rows = list(points)
    every = len(rows) // LOSS_POINTS + 1
    shown = [row for i, row in enumerate(rows) if i % every == 0 or row[2] is not None]
    series = [Series(gettext("training"), "first", [Point(f"{step or 0}", loss) for step, loss, _held in shown])]
    if held := [Point(f"{step or 0}", loss) for step, _loss, loss in shown if loss is not None]:
        series.append(Series(gettext("held out"), "second", held))
    return line_chart(
        gettext("Loss, in nats per labelled step"),
        series,
        help=gettext(
            "How training proceeds: both curves should fall, and a held-out curve that rises means overfitting."
        ),
        term="loss",
        places=gettext("step"),
        no_values=gettext("The loss appears here during training.")
        if run.live
        else gettext("This run trained no model."),
        form=lambda loss: short(loss, 3),
    )


def _gain_chart(run: TrainingRun) -> Chart | None:
    gate = run.model_version.gate if run.model_version else None
    if gate is None or gate.gain is None or gate.low is None or gate.high is None:
        return None
    return gain_chart(
        gettext("Gain in holdout F1, in points"),
        gate.samples,
        help=gettext(
            "Challenger minus champion. The gate promotes a gain whose interval stays right of the tolerated loss."
        ),
        gain=gate.gain,
        low=gate.low,
        high=gate.high,
        tolerance=gate.tolerance,
    )
