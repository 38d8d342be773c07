"""One training run as it goes: stages, figures, log, files, and the buttons that stop it or take it up again."""

from collections.abc import Iterator

from django.http import FileResponse, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation.loop.rounds.artefacts import artefacts_of, find_artefact, run_folder
from annotation.loop.rounds.failures import SETTINGS, page_of
from annotation.loop.rounds.runs import can_retry
from annotation.models import Membership, RunPoint, TrainingRun
from labelling_ui.charts import Chart, Point, Series, gain_chart, line_chart
from labelling_ui.numbers import short
from labelling_ui.pages.access import MANAGER, STAFF, project_page
from labelling_ui.selectors.training_costs import costs_of
from labelling_ui.selectors.training_progress import progress_of_training

LOG_LINES = 200
LOSS_POINTS = 120


@project_page(*STAFF)
def run(request: HttpRequest, member: Membership, number: int) -> HttpResponse:
    run = get_object_or_404(
        TrainingRun.objects.select_related("project", "model_version", "generation", "snapshot", "requested_by"),
        project=member.project,
        number=number,
    )
    context = {
        "member": member,
        "tab": "runs",
        "run": run,
        "live": run.live,
        "can_retry": can_retry(run),
        "remedy": _remedy(run),
        "stages": list(run.stages.all()),
        "now": timezone.now(),
        "training": progress_of_training(run),
        "loss": _loss_chart(run),
        "gain": _gain_chart(run),
        "costs": costs_of(run.model_version) if run.model_version else None,
        "artefacts": artefacts_of(run) if member.role == Membership.Role.MANAGER else None,
        "log": run.points.order_by("-id")[:LOG_LINES],
    }
    template = "labelling_ui/run_live.html" if request.headers.get("HX-Request") else "labelling_ui/run.html"
    return render(request, template, context)


@project_page(*STAFF)
def log(request: HttpRequest, member: Membership, number: int) -> HttpResponseBase:
    """The whole log as a text file, with what the trainer wrote at its end."""
    run = get_object_or_404(TrainingRun, project=member.project, number=number)
    name = f"{member.project.slug}-run-{run.number}.log"
    return StreamingHttpResponse(
        _lines(run),
        content_type="text/plain; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@project_page(MANAGER)
def artefact(request: HttpRequest, member: Membership, number: int, area: str, name: str) -> HttpResponseBase:
    run = get_object_or_404(TrainingRun, project=member.project, number=number)
    return FileResponse(find_artefact(run, area, name).open("rb"), as_attachment=True)


def _lines(run: TrainingRun) -> Iterator[str]:
    for point in run.points.order_by("pk").iterator():
        figures = {
            "loss": point.loss, "held": point.held_loss, "tokens/s": point.tokens_per_second, "use": point.utilisation
        }  # fmt: skip
        told = "".join(f" {name}={value:.5g}" for name, value in figures.items() if value is not None)
        place = f" {point.step}/{point.of}" if point.of else ""
        yield f"{point.at.isoformat(timespec='seconds')} {point.stage}{place} {point.message}{told}\n"
    trainer = run_folder(run) / "train.log"
    if trainer.exists():
        with trainer.open(errors="replace") as lines:
            yield from lines


def _remedy(run: TrainingRun) -> str:
    """The page where what failed is mended; "" where there is none."""
    page, slug = page_of(run.failure), run.project.slug
    if page == SETTINGS:
        return reverse("settings-page", args=[slug, "training"])
    return reverse(page, args=[slug]) if page else ""


def _loss_chart(run: TrainingRun) -> Chart:
    """The loss of training and that of the held part, thinned to what a screen can show."""
    points = RunPoint.objects.filter(run=run, loss__isnull=False).values_list("step", "loss", "held_loss")
    found = list(points)
    every = len(found) // LOSS_POINTS + 1
    shown = [row for i, row in enumerate(found) if i % every == 0 or row[2] is not None]
    series = [Series(_("training"), "first", [Point(f"{step or 0}", loss) for step, loss, _held in shown])]
    if held := [Point(f"{step or 0}", loss) for step, _loss, loss in shown if loss is not None]:
        series.append(Series(_("held out"), "second", held))
    return line_chart(_("Loss, nats a labelled step"), series, places=_("step"), form=lambda x: short(x, 3))


def _gain_chart(run: TrainingRun) -> Chart | None:
    gate = run.model_version.gate if run.model_version else None
    if gate is None or gate.gain is None or gate.low is None or gate.high is None:
        return None
    return gain_chart(
        _("Gain in holdout F1, in points"),
        gate.samples,
        gain=gate.gain,
        low=gate.low,
        high=gate.high,
        tolerance=gate.tolerance,
    )
