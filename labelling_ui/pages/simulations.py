"""Simulations on the project's own labels: start, progress, result and download."""

import json
from collections.abc import Mapping
from typing import Any

from django import forms
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core import storage
from annotation.loop.proof.simulating import PICTURE, simulation_key
from annotation.loop.proof.simulations import (
    BASELINES,
    LEAST_BUDGET,
    MOST_SEEDS,
    replayable_snapshots,
    start_simulation,
)
from annotation.loop.resuming import can_resume
from annotation.models import Membership, Project, SimulationRun, Snapshot
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import MANAGER, attempt, project_page
from labelling_ui.pages.columns import Column, Estimate, Number, State, When
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.templatetags.figures import acquisition_in_words, code, digest, hundredths, points
from prm.acquisition import FUNCTIONS

COLUMNS = [
    When("started", _("Started"), "created_at", sort=True, heading=True),
    State("state", _("State"), sort=True, choices=SimulationRun.State.choices),
    Column("functions", _("Functions"), lambda s: ", ".join(s.functions)),
    Number("seeds", _("Seeds"), term="seed"),
    Number("budget", _("Budget"), help=_("The labelled solutions at the end of each curve.")),
    Column("snapshot", _("Snapshot"), "snapshot__sha256", write=digest, term="snapshot"),
]


def _times(saving: float) -> str:
    return f"{decimal(saving, 2)}×"


COMPARISONS = [
    Column(
        "function",
        _("Function"),
        heading=True,
        write=code,
        term="acquisition",
        help=_("The acquisition function that chose what to label."),
    ),
    Column(
        "graded",
        _("Graded answers"),
        lambda one: _("yes") if one["graded"] else _("no"),
        term="graded_solution",
        help=_("Whether the model also learns from the final answers of unread solutions."),
    ),
    Estimate(
        "f1",
        _("Final F1"),
        lambda one: one["f1"][-1] if one["f1"] else None,
        write=hundredths,
        term="f1",
        help=_("F1 on the test problems after the last label."),
    ),
    Estimate(
        "area",
        _("Mean F1 gained"),
        "area_gain__solutions",
        write=points,
        help=_("F1 minus that of random selection without graded answers, averaged over the curve, in points."),
    ),
    Estimate(
        "solutions",
        _("Saving in solutions"),
        "saving__solutions__mean",
        write=_times,
        help=_("How many times as many solutions random selection without graded answers needs for the same F1."),
    ),
    Estimate(
        "choosing",
        _("Saving by choosing"),
        "choosing__mean",
        write=_times,
        help=_("How many times as many solutions random selection needs if its model learns from the same signals."),
    ),
    Estimate(
        "steps",
        _("Saving in steps"),
        "saving__steps__mean",
        write=_times,
        help=_("How many times as many steps random selection without graded answers needs for the same F1."),
    ),
    Estimate(
        "seconds",
        _("Saving in time"),
        "saving__seconds__mean",
        write=_times,
        help=_("How many times as much time random selection without graded answers needs for the same F1."),
    ),
]


class SnapshotField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        solutions = obj.counts.get("solutions", 0)
        return gettext("%(day)s, %(n)s solutions (%(sha)s)") % {
            "day": date_format(localtime(obj.created_at), "DATE_FORMAT"),
            "n": decimal(solutions),
            "sha": obj.sha256[:8],
        }


class SimulationForm(forms.Form):
    snapshot: SnapshotField = SnapshotField(queryset=Snapshot.objects.none(), label=_("Snapshot"), empty_label=None)
    seeds = forms.IntegerField(
        min_value=1,
        max_value=MOST_SEEDS,
        initial=5,
        label=_("Seeds"),
        help_text=_("Number of repetitions, the same for every function. Use five or more for a useful interval."),
    )
    budget = forms.IntegerField(
        min_value=LEAST_BUDGET,
        initial=200,
        label=_("Budget"),
        help_text=_("Maximum number of solutions to label, up to the size of the pool."),
    )
    functions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label=_("Functions"),
        required=False,
        help_text=_("Random selection and wrong answers, taken evenly, are always replayed as baselines."),
    )

    def __init__(self, *args: Any, project: Project, **named: Any) -> None:
        super().__init__(*args, **named)
        snapshots: SnapshotField = self.fields["snapshot"]  # type: ignore[assignment]
        snapshots.queryset = replayable_snapshots(project)
        chosen: forms.MultipleChoiceField = self.fields["functions"]  # type: ignore[assignment]
        chosen.choices = [
            (name, f"{acquisition_in_words(name)} ({name})") for name in FUNCTIONS if name not in BASELINES
        ]
        chosen.initial = [project.policies.acquisition]


@project_page(MANAGER)
def simulations(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    form = SimulationForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        simulation = attempt(request, "", start_simulation, project=project, **form.cleaned_data)
        if simulation:
            return redirect("simulation", project.slug, simulation.pk)
    listing = Listing(request, project.simulations.select_related("snapshot"), COLUMNS, sort="-started")
    context = {
        "form": form,
        "live": project.simulations.filter(state__in=SimulationRun.LIVE).first(),
        "snapshots": replayable_snapshots(project).exists(),
    }
    return respond(request, "labelling_ui/simulations.html", listing, "simulations", context)


@project_page(MANAGER)
def simulation(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponse:
    simulation = _find(member.project, simulation_id)
    context = {
        "job": simulation,
        "resumes": can_resume(simulation),
        "comparisons": Table(simulation.result.get("comparisons", []), COMPARISONS),
        "choosing": choosing_in_words(simulation.result),
        "picture": bool(simulation.result) and PICTURE in storage.sizes(simulation_key(simulation)),
    }
    return render(request, "labelling_ui/simulation.html", context)


@project_page(MANAGER)
def download(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponseBase:
    """Download the simulation's result as JSON."""
    simulation = _find(member.project, simulation_id)
    if not simulation.result:
        raise Http404("This simulation has no result yet.")
    response = HttpResponse(json.dumps(simulation.result, indent=1), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{member.project.slug}-simulation-{simulation.pk}.json"'
    return response


@project_page(MANAGER)
def picture(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponseBase:
    path = storage.fetch(simulation_key(_find(member.project, simulation_id)), PICTURE) / PICTURE
    if not path.is_file():
        raise Http404("This simulation has no picture yet.")
    return FileResponse(path.open("rb"), content_type="image/svg+xml")


def choosing_in_words(result: Mapping[str, Any]) -> str:
    """A sentence on what choosing buys if random selection learns from the same signals; empty without a comparison."""
    rows = [one for one in result.get("comparisons", []) if one["choosing"] and one["choosing"]["mean"]["value"]]
    alike = [one for one in rows if one["graded"] == max(one["graded"] for one in rows)]
    if not alike:
        return ""
    best = max(alike, key=lambda one: one["choosing"]["mean"]["value"])
    ratio = best["choosing"]["mean"]
    words = {
        "function": acquisition_in_words(best["function"]),
        "times": ("≤ " if best["choosing"]["never"] else "") + _times(ratio["value"]),
        "low": _times(ratio["low"]),
        "high": _times(ratio["high"]),
    }
    if ratio["low"] > 1:
        return (
            gettext(
                "With the same training signals, choosing pays: random selection needs %(times)s as many solutions as "
                "the best function, %(function)s (%(low)s to %(high)s)."
            )
            % words
        )
    return (
        gettext(
            "With the same training signals, choosing buys nothing certain: random selection needs %(times)s as many "
            "solutions as the best function, %(function)s (%(low)s to %(high)s)."
        )
        % words
    )


def _find(project: Project, simulation_id: int) -> SimulationRun:
    return get_object_or_404(project.simulations.select_related("snapshot", "requested_by"), pk=simulation_id)
