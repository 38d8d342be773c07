"""Simulations on the project's own labels: started, watched, called off, gone on with, downloaded."""

import json
from typing import Any

from django import forms
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.formats import date_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from annotation.loop.proof.simulating import PICTURE, folder_of
from annotation.loop.proof.simulations import LEAST_BUDGET, MOST_SEEDS, start_simulation
from annotation.loop.selection.composition import RANDOM
from annotation.models import Membership, Project, SimulationRun, Snapshot
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import MANAGER, attempt, project_page
from labelling_ui.pages.columns import Column, Number, State, When
from labelling_ui.pages.listing import Listing, respond
from labelling_ui.templatetags.figures import acquisition_in_words, digest
from prm.acquisition import FUNCTIONS

USUAL = ["first_error_bald", "balanced_errors"]
AXES = ("solutions", "steps", "seconds")
COLUMNS = [
    When("started", gettext_lazy("Started"), "created_at", sort=True, heading=True),
    State("state", gettext_lazy("State"), sort=True, choices=SimulationRun.State.choices),
    Column("functions", gettext_lazy("Functions"), lambda s: ", ".join(s.functions)),
    Number("seeds", gettext_lazy("Seeds")),
    Number("budget", gettext_lazy("Budget")),
    Column("snapshot", gettext_lazy("Snapshot"), "snapshot__sha256", write=digest),
]


class SnapshotField(forms.ModelChoiceField):
    def label_from_instance(self, obj: Any) -> str:
        solutions = obj.counts.get("solutions", 0)
        return _("%(day)s, %(n)s solutions (%(sha)s)") % {
            "day": date_format(obj.created_at, "DATE_FORMAT"),
            "n": decimal(solutions),
            "sha": obj.sha256[:8],
        }


class SimulationForm(forms.Form):
    snapshot: SnapshotField = SnapshotField(
        queryset=Snapshot.objects.none(), label=gettext_lazy("Snapshot"), empty_label=None
    )
    seeds = forms.IntegerField(
        min_value=1,
        max_value=MOST_SEEDS,
        initial=5,
        label=gettext_lazy("Seeds"),
        help_text=gettext_lazy("Repetitions that every function shares; five or more make an interval worth its name."),
    )
    budget = forms.IntegerField(
        min_value=LEAST_BUDGET,
        initial=200,
        label=gettext_lazy("Budget"),
        help_text=gettext_lazy("Solutions that a simulated reader labels at most; no more than the pool has."),
    )
    functions = forms.MultipleChoiceField(
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Functions"),
        help_text=gettext_lazy("Each is compared with random."),
    )

    def __init__(self, *args: Any, project: Project, **named: Any) -> None:
        super().__init__(*args, **named)
        snapshots: SnapshotField = self.fields["snapshot"]  # type: ignore[assignment]
        snapshots.queryset = project.snapshots.all()
        chosen: forms.MultipleChoiceField = self.fields["functions"]  # type: ignore[assignment]
        chosen.choices = [(name, f"{acquisition_in_words(name)} ({name})") for name in FUNCTIONS if name != RANDOM]
        chosen.initial = USUAL


@project_page(MANAGER)
def simulations(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    form = SimulationForm(request.POST if request.method == "POST" else None, project=project)
    if request.method == "POST" and form.is_valid():
        found = attempt(request, "", start_simulation, project=project, **form.cleaned_data)
        if found:
            return redirect("simulation", project.slug, found.pk)
    listing = Listing(request, project.simulations.select_related("snapshot"), COLUMNS, sort="-started")
    context = {
        "member": member,
        "tab": "learning",
        "form": form,
        "live": project.simulations.filter(state__in=SimulationRun.LIVE).first(),
        "snapshots": project.snapshots.exists(),
    }
    return respond(request, "labelling_ui/simulations.html", listing, f"{project.slug}-simulations", context)


@project_page(MANAGER)
def simulation(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponse:
    found = _find(member.project, simulation_id)
    context = {
        "member": member,
        "tab": "learning",
        "simulation": found,
        "live": found.live,
        "stopped": found.state in (SimulationRun.State.FAILED, SimulationRun.State.CANCELLED),
        "rows": _rows(found.result),
        "picture": (folder_of(found) / PICTURE).is_file() and bool(found.result),
    }
    part = "simulation_live.html" if request.headers.get("HX-Request") else "simulation.html"
    return render(request, f"labelling_ui/{part}", context)


@project_page(MANAGER)
def download(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponseBase:
    """What the simulation wrote, as JSON."""
    found = _find(member.project, simulation_id)
    if not found.result:
        raise Http404("This simulation has no result yet.")
    response = HttpResponse(json.dumps(found.result, indent=1), content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{member.project.slug}-simulation-{found.pk}.json"'
    return response


@project_page(MANAGER)
def picture(request: HttpRequest, member: Membership, simulation_id: int) -> HttpResponseBase:
    path = folder_of(_find(member.project, simulation_id)) / PICTURE
    if not path.is_file():
        raise Http404("This simulation has no picture yet.")
    return FileResponse(path.open("rb"), content_type="image/svg+xml")


def _rows(result: dict[str, Any]) -> list[dict[str, Any]]:
    """One row a function: the last F1, and what it saves against random along each axis."""
    return [
        {
            "function": one["function"],
            "f1": one["f1"][-1] if one["f1"] else None,
            "area": one["area_gain"].get("solutions"),
            "savings": [one["saving"].get(axis) for axis in AXES],
        }
        for one in result.get("comparisons", [])
    ]


def _find(project: Project, simulation_id: int) -> SimulationRun:
    found = project.simulations.select_related("snapshot", "requested_by").filter(pk=simulation_id).first()
    if found is None:
        raise Http404("There is no such simulation in this project.")
    return found
