"""Does active learning pay here: the live comparison, what the labels say of the pool, and whether to go on."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.wording import in_words
from annotation.loop.proof.history import advise, history_of
from annotation.loop.proof.lane_estimates import LaneEstimates, estimates_of
from annotation.models import Lane, Membership, ShadowComparison
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import decimal, signed
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Estimate, Number, Share
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.templatetags.figures import hundredths, percent, points

SHOWN = 20  # comparisons in the chart
COLUMNS = [
    Number("generation", gettext_lazy("Generation"), sort=True, heading=True, write=str),
    Number("run", gettext_lazy("Run"), "run__number", sort=True, link="run", write=str),
    Duration("seconds", gettext_lazy("Time, each"), "control_seconds"),
    Number("acquisition_labels", gettext_lazy("Acquisition")),
    Number("control_labels", gettext_lazy("Control")),
    Number("acquisition_f1", gettext_lazy("F1, acquisition"), write=hundredths),
    Number("control_f1", gettext_lazy("F1, control"), write=hundredths),
    Number("gain", gettext_lazy("Gain"), sort=True, write=points),
    Number("low", gettext_lazy("from (95 %)"), write=points),
    Number("high", gettext_lazy("to"), write=points),
    Number("holdout", gettext_lazy("Holdout"), "holdout_solutions"),
]
ESTIMATES = [
    Column("generation", gettext_lazy("Generation"), heading=True),
    Choice("lane", gettext_lazy("Lane"), choices=Lane.choices),
    Number("labelled", gettext_lazy("Labelled")),
    Number("effective", gettext_lazy("Counts as"), "first_error_rate__effective", write=decimal),
    Estimate("errors", gettext_lazy("Have an error"), "first_error_rate", write=percent),
    Share("errors_naive", gettext_lazy("as labelled"), "first_error_rate__naive"),
    Estimate("right", gettext_lazy("Model was right"), "champion_accuracy", write=percent),
    Share("right_naive", gettext_lazy("as labelled"), "champion_accuracy__naive"),
    Duration("seconds", gettext_lazy("Time for one"), "seconds__value"),
]
HISTORY = [
    Column("generation", gettext_lazy("Generation"), heading=True),
    Number("labels", gettext_lazy("Labels")),
    Duration("seconds", gettext_lazy("Time"), lambda one: one.seconds or None),
    Estimate(
        "f1",
        gettext_lazy("Holdout F1 after it"),
        lambda one: {"value": one.f1, "low": one.f1_low, "high": one.f1_high},
        write=hundredths,
    ),
    Share("changed", gettext_lazy("Verdicts on the pool that changed"), write=partial(percent, digits=1)),
]


@project_page(*STAFF)
def learning(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    rows = project.shadow_comparisons.select_related("run", "snapshot")
    listing = Listing(request, rows, COLUMNS, sort="-generation")
    if request.GET.get("download") == "csv":
        return respond(request, "labelling_ui/learning.html", listing, f"{project.slug}-learning", {})
    estimates = estimates_of(project)
    history = history_of(project)
    advice = advise(history)
    context = {
        "member": member,
        "latest": rows.first(),
        "gain": _gain_chart(list(rows[:SHOWN])),
        "estimates": Table(estimates, ESTIMATES),
        "rates": _rate_chart(estimates, project.slug),
        "history": Table(history, HISTORY),
        "advice": advice,
        "pays": any(criterion.verdict == "continue" for criterion in advice.criteria),
        "why_not": _why_not(member),
    }
    return respond(request, "labelling_ui/learning.html", listing, f"{project.slug}-learning", context)


def _gain_chart(comparisons: list[ShadowComparison]) -> Chart:
    points = [
        Point(
            _("gen. %(n)d") % {"n": one.generation},
            100 * one.gain,
            None if one.low is None else 100 * one.low,
            None if one.high is None else 100 * one.high,
            href=reverse("run", args=[one.project.slug, one.run.number]),
        )
        for one in {one.generation: one for one in reversed(comparisons)}.values()
    ]
    return line_chart(
        _("Acquisition minus control, points of holdout F1, on equal time"),
        [Series(_("gain"), "first", points)],
        places=_("generation"),
        form=lambda value: signed(value, 1) if value else "0",
        bottom=min([0.0, *(p.low if p.low is not None else p.value or 0.0 for p in points)]),
    )


def _rate_chart(estimates: list[LaneEstimates], slug: str) -> Chart:
    """The pool's share of solutions with an error as each lane tells it, and as acquisition's labels look plainly."""

    def points(lane: str, *, naive: bool = False) -> list[Point]:
        found = []
        for one in estimates:
            rate = one.first_error_rate
            if one.lane != lane or rate is None:
                continue
            place = _("gen. %(n)d") % {"n": one.generation}
            href = f"{reverse('labels', args=[slug])}?generation={one.generation}&lane={lane}"
            whole = None if naive else rate.low, None if naive else rate.high
            found.append(Point(place, rate.naive if naive else rate.value, *whole, href=href))
        return found

    return line_chart(
        _("Solutions with an error, in the pool"),
        [
            Series(_("control"), "second", points("control")),
            Series(_("acquisition, weighted"), "first", points("acquisition")),
            Series(_("acquisition, as labelled"), "unsure", points("acquisition", naive=True)),
        ],
        places=_("generation"),
        form=lambda value: f"{decimal(100 * value)} %",
        top=1.0,
    )


def _why_not(member: Membership) -> str:
    """What the last round said where it compared nothing."""
    run: Any = member.project.training_runs.filter(stages__name="shadow", stages__state="skipped").first()
    return in_words(run.stages.get(name="shadow").figure) if run else ""
