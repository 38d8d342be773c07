"""Whether active learning pays: the live comparison, estimates of the pool, and whether another generation helps."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.loop.proof.history import advise, history_of
from annotation.loop.proof.lane_estimates import LaneEstimates, estimates_of
from annotation.models import Lane, Membership, ShadowComparison, SimulationRun
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import decimal, signed
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Choice, Column, Duration, Estimate, Number, Share
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.pages.simulations import choosing_in_words
from labelling_ui.templatetags.figures import hundredths, percent, points

SHOWN = 20  # comparisons in the chart
COLUMNS = [
    Number("generation", _("Generation"), sort=True, heading=True, write=str),
    Number("run", _("Run"), "run__number", sort=True, link="run", write=str),
    Duration(
        "seconds",
        _("Time per lane"),
        "control_seconds",
        help=_("The labelling time that each of the two models learned from."),
    ),
    Number("acquisition_labels", _("Acquisition"), term="acquisition"),
    Number("control_labels", _("Control"), term="control"),
    Number(
        "acquisition_f1",
        _("F1, acquisition"),
        write=hundredths,
        term="f1",
        help=_("Holdout F1 of the model that learned from the acquisition lane, in hundredths."),
    ),
    Number(
        "control_f1",
        _("F1, control"),
        write=hundredths,
        term="f1",
        help=_("Holdout F1 of the model that learned from the control lane, in hundredths."),
    ),
    Number(
        "gain",
        _("Gain"),
        sort=True,
        write=points,
        help=_("F1 of the acquisition model minus F1 of the control model, in points."),
    ),
    Number("low", _("Lower bound"), write=points),
    Number("high", _("Upper bound"), write=points),
    Number("holdout", _("Holdout"), "holdout_solutions", term="holdout"),
]
ESTIMATES = [
    Column("generation", _("Generation"), heading=True, term="generation"),
    Choice("lane", _("Lane"), choices=Lane.choices, term="lane"),
    Number("labelled", _("Labelled")),
    Number(
        "effective",
        _("Effective labels"),
        "first_error_rate__effective",
        write=decimal,
        help=_("The number of equally weighted labels that would give the same precision."),
    ),
    Estimate(
        "errors",
        _("With an error"),
        "first_error_rate",
        write=percent,
        term="first_error",
        help=_("The estimated share of the pool’s solutions that have an error."),
    ),
    Share(
        "errors_naive",
        _("unweighted"),
        "first_error_rate__naive",
        help=_("The same share among this lane’s labels, without weights."),
    ),
    Estimate(
        "right",
        _("Champion right"),
        "champion_accuracy",
        write=percent,
        term="champion",
        help=_("The estimated share of the pool’s solutions where the serving model found the first error."),
    ),
    Share(
        "right_naive",
        _("unweighted"),
        "champion_accuracy__naive",
        help=_("The same share among this lane’s labels, without weights."),
    ),
    Duration(
        "seconds",
        _("Time per solution"),
        "seconds__value",
        help=_("The estimated labelling time of one solution of the pool."),
    ),
]
HISTORY = [
    Column("generation", _("Generation"), heading=True, term="generation"),
    Number("labels", _("Labels")),
    Duration("seconds", _("Time"), lambda one: one.seconds or None),
    Estimate(
        "f1",
        _("Holdout F1 afterwards"),
        lambda one: {"value": one.f1, "low": one.f1_low, "high": one.f1_high},
        write=hundredths,
        term="f1",
        help=_("F1 of the model trained after this generation, on the holdout, in hundredths."),
    ),
    Share(
        "changed",
        _("Changed verdicts on the pool"),
        write=partial(percent, digits=1),
        term="pool",
        help=_("The share of pool solutions for which this model names another first error than the one before."),
    ),
]


@project_page(*STAFF)
def learning(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    rows = project.shadow_comparisons.select_related("run", "snapshot")
    listing = Listing(request, rows, COLUMNS, sort="-generation")
    if request.GET.get("download") == "csv":
        return respond(request, "labelling_ui/learning.html", listing, "learning")
    cached = CachedFigures(request, project)
    estimates = cached("estimates", partial(estimates_of, project))
    history = cached("history", partial(history_of, project))
    advice = advise(history)
    simulation = project.simulations.filter(state=SimulationRun.State.DONE).order_by("-pk").first()
    context = {
        "latest": rows.first(),
        "gain": _gain_chart(list(rows[:SHOWN])),
        "estimates": Table(estimates, ESTIMATES),
        "rates": _rate_chart(estimates, project.slug),
        "history": Table(history, HISTORY),
        "advice": advice,
        "pays": any(criterion.verdict == "continue" for criterion in advice.criteria),
        "why_not": _why_not(member),
        "simulation": simulation,
        "choosing": choosing_in_words(simulation.result) if simulation else "",
    }
    return respond(request, "labelling_ui/learning.html", listing, "learning", context)


def _gain_chart(comparisons: list[ShadowComparison]) -> Chart:
    points = [
        Point(
            gettext("gen. %(n)d") % {"n": one.generation},
            100 * one.gain,
            None if one.low is None else 100 * one.low,
            None if one.high is None else 100 * one.high,
            href=reverse("run", args=[one.project.slug, one.run.number]),
        )
        for one in {one.generation: one for one in reversed(comparisons)}.values()
    ]
    return line_chart(
        gettext("Acquisition minus control, in points of holdout F1"),
        [Series(gettext("gain"), "first", points)],
        help=gettext("Above 0, labels chosen by acquisition taught more than random labels that took the same time."),
        term="acquisition",
        places=gettext("generation"),
        form=lambda value: signed(value, 1) if value else "0",
        bottom=min([0.0, *(p.low if p.low is not None else p.value or 0.0 for p in points)]),
    )


def _rate_chart(estimates: list[LaneEstimates], slug: str) -> Chart:
    """A chart of the pool's share of solutions with an error: each lane's estimate, and acquisition unweighted."""

    def points(lane: str, *, naive: bool = False) -> list[Point]:
        shown = []
        for one in estimates:
            rate = one.first_error_rate
            if one.lane != lane or rate is None:
                continue
            place = gettext("gen. %(n)d") % {"n": one.generation}
            href = f"{reverse('labels', args=[slug])}?generation={one.generation}&lane={lane}"
            whole = None if naive else rate.low, None if naive else rate.high
            shown.append(Point(place, rate.naive if naive else rate.value, *whole, href=href))
        return shown

    return line_chart(
        gettext("Pool solutions with an error"),
        [
            Series(gettext("control"), "second", points("control")),
            Series(gettext("acquisition, weighted"), "first", points("acquisition")),
            Series(gettext("acquisition, unweighted"), "unsure", points("acquisition", naive=True)),
        ],
        help=gettext(
            "The share of solutions with an error: weighted acquisition labels should agree with the control lane."
        ),
        term="pool",
        places=gettext("generation"),
        no_values=gettext("No labels in these lanes yet."),
        form=percent,
        top=1.0,
    )


def _why_not(member: Membership) -> str:
    """Why the last round compared nothing."""
    run: Any = member.project.training_runs.filter(stages__name="shadow", stages__state="skipped").first()
    return in_words(run.stages.get(name="shadow").figure) if run else ""
