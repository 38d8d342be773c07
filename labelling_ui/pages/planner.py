"""The planner: the time, cost and quality of more labels, and what a model would gain from them."""

from collections.abc import Callable
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.formats import date_format
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.planning.bands import Band
from annotation.labels.planning.planner import Plan, plan_labels
from annotation.models import Membership
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Column, Estimate, Number
from labelling_ui.pages.listing import Table
from labelling_ui.templatetags.figures import count, hundredths, percent, points

USUAL = {"goal": "labels", "amount": "1000"}


class PlanForm(forms.Form):
    """The goal of a plan, and what to assume."""

    goal = forms.ChoiceField(
        label=_("Plan"),
        choices=[("labels", _("a number of labels")), ("cost", _("a budget")), ("days", _("a number of days"))],
    )
    amount = forms.FloatField(label=_("Amount"), min_value=1, max_value=10_000_000)
    hours_a_week = forms.FloatField(
        label=_("Hours of labelling a week"),
        help_text=_("Of all people together. Leave it empty to go on as in the last eight weeks."),
        min_value=0.1,
        max_value=10_000,
        required=False,
    )
    wanted_f1 = forms.FloatField(
        label=_("Wanted F1"),
        help_text=_("In hundredths, on the holdout: how many labels would a model need?"),
        min_value=1,
        max_value=99,
        required=False,
    )

    def clean_wanted_f1(self) -> float | None:
        wanted: float | None = self.cleaned_data["wanted_f1"]
        return None if wanted is None else wanted / 100


QUALITY = [
    Column("opinions", _("People per step"), heading=True, write=str),
    Number("solutions", _("Solutions"), help=_("How many solutions the planned labels cover.")),
    Estimate(
        "right",
        _("Right labels"),
        write=percent,
        help=_("The expected share of steps whose label is right, with the 80 % band."),
    ),
]


@project_page(*STAFF)
def planner(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = PlanForm(request.GET if "goal" in request.GET else USUAL)
    context: dict[str, Any] = {"form": form, "hour": member.project.policies.costs.hour}
    if form.is_valid():
        cached, name = CachedFigures(request, member.project), f"plan {sorted(form.cleaned_data.items())}"
        plan = cached(name, partial(plan_labels, member.project, **form.cleaned_data))
        context |= {
            "plan": plan,
            "workload": _workload(plan),
            "quality": Table(_quality(plan, _labels_of(form.cleaned_data)), QUALITY),
            "chart": _chart(plan),
            "model": _model(plan),
            "reach": _reach(plan),
        }
    return render(request, "labelling_ui/planner.html", context)


def _workload(plan: Plan) -> dict[str, str]:
    """The figures of the plan in words, and the band of each."""
    work, end = plan.workload, plan.end
    if work is None or end is None:
        return {}
    figures: dict[str, tuple[Any, Callable[[Any], str]]] = {
        "end": (end, lambda day: date_format(day, "DATE_FORMAT")),
        "labels": (work.labels, lambda value: count(round(value))),
        "hours": (work.hours, lambda value: decimal(value, 1)),
    }
    if work.cost.high:
        figures["cost"] = (work.cost, lambda value: f"{count(round(value))} {plan.currency}")
    words = {name: write(band.value) for name, (band, write) in figures.items()}
    return words | {f"{name}_band": _band(band, write) for name, (band, write) in figures.items()}


def _quality(plan: Plan, planned: float | None) -> list[dict[str, Any]]:
    labels = planned or (plan.workload.labels.value if plan.workload else None)
    return [
        {
            "opinions": row.opinions,
            "solutions": None if labels is None else int(labels // row.opinions),
            "right": row.right,
        }
        for row in plan.quality
    ]


def _labels_of(chosen: dict[str, Any]) -> float | None:
    """The number of labels that was asked for; None for another goal."""
    return chosen["amount"] if chosen["goal"] == "labels" else None


def _model(plan: Plan) -> dict[str, str]:
    if plan.model is None:
        return {}
    return {
        "labels": count(plan.model.labels),
        "f1": _in_words(plan.model.f1, hundredths),
        "gain": _in_words(plan.model.gain, points),
    }


def _reach(plan: Plan) -> str:
    if plan.reach is None:
        return ""
    f1 = hundredths(plan.reach.f1)
    if plan.reach.labels is None:
        return gettext("Labels like these are not expected to bring an F1 of %(f1)s.") % {"f1": f1}
    more = _in_words(plan.reach.labels, lambda value: count(round(value)))
    return gettext("For an F1 of %(f1)s, a model needs about %(more)s more labels.") % {"f1": f1, "more": more}


def _chart(plan: Plan) -> Chart:
    measured = [Point(count(model.labels), 100 * model.f1) for model in plan.trained]
    planned = []
    if plan.model:
        f1 = plan.model.f1
        planned = [measured[-1], Point(count(plan.model.labels), 100 * f1.value, 100 * f1.low, 100 * f1.high)]
    return line_chart(
        gettext("Holdout F1 by labels"),
        [Series(gettext("measured"), "second", measured), Series(gettext("planned"), "first", planned)],
        help=gettext("Each point is a model that a round trained, in hundredths; the last one is the forecast."),
        term="f1",
        places=gettext("labels"),
        form=lambda value: decimal(value, 1),
    )


def _band(band: Any, write: Callable[[Any], str]) -> str:
    """The bounds of a band in words; empty for a certainty."""
    low, high = write(band.low), write(band.high)
    return "" if low == high else gettext("%(low)s to %(high)s") % {"low": low, "high": high}


def _in_words(band: Band, write: Callable[[Any], str]) -> str:
    """An expectation with its band in brackets."""
    return f"{write(band.value)} ({bounds})" if (bounds := _band(band, write)) else write(band.value)
