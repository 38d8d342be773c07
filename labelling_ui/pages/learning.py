"""Does active learning pay here: the live comparison, what the labels say of the pool, and whether to go on."""

from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.core.wording import in_words
from annotation.loop.gateway.stopping import advise
from annotation.loop.proof.history import decided_rounds, history_of
from annotation.loop.proof.lane_estimates import LaneEstimates, estimates_of
from annotation.models import Membership, ShadowComparison
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import decimal, signed
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.listing import Column, Listing, respond

SHOWN = 20  # comparisons in the chart
COLUMNS = [
    Column("generation", gettext_lazy("Generation"), lambda c: c.generation, sort="generation", number=True),
    Column("run", gettext_lazy("Run"), lambda c: c.run.number, sort="run__number", number=True),
    Column("seconds", gettext_lazy("Time, each"), lambda c: c.control_seconds, number=True),
    Column("acquisition_labels", gettext_lazy("Acquisition"), lambda c: c.acquisition_labels, number=True),
    Column("control_labels", gettext_lazy("Control"), lambda c: c.control_labels, number=True),
    Column("acquisition_f1", gettext_lazy("F1, acquisition"), lambda c: c.acquisition_f1, number=True),
    Column("control_f1", gettext_lazy("F1, control"), lambda c: c.control_f1, number=True),
    Column("gain", gettext_lazy("Gain"), lambda c: c.gain, sort="gain", number=True),
    Column("low", gettext_lazy("from (95 %)"), lambda c: c.low, number=True),
    Column("high", gettext_lazy("to"), lambda c: c.high, number=True),
    Column("holdout", gettext_lazy("Holdout"), lambda c: c.holdout_solutions, number=True),
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
    advice = advise(decided_rounds(history))
    context = {
        "member": member,
        "latest": rows.first(),
        "gain": _gain_chart(list(rows[:SHOWN])),
        "estimates": estimates,
        "rates": _rate_chart(estimates, project.slug),
        "history": history,
        "advice": advice,
        "pays": any(one["verdict"] == "continue" for one in advice["criteria"]),
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
