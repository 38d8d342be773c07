"""Scheduled exports: the form of a new one, and the list with their latest jobs."""

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.datasets.export_jobs import ExportPlace
from annotation.labels.datasets.export_schedules import (
    MOST_DAYS,
    create_schedule,
    delete_schedule,
    set_schedule_active,
)
from annotation.labels.datasets.presets import PRESETS
from annotation.models import ExportSchedule, Membership, Project
from labelling_ui.pages.access import MANAGER, attempt, posted_word, project_action, project_page
from labelling_ui.pages.columns import Column, Control
from labelling_ui.pages.dataset_contents import grouped_formats, title_of
from labelling_ui.pages.dataset_filters import describe_filters
from labelling_ui.pages.listing import Listing, respond


class ScheduleForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=100)
    preset = forms.ChoiceField(
        label=_("Purpose"),
        choices=[(preset.name, preset.title) for preset in PRESETS.values()],
        help_text=_("The purpose sets the filters."),
    )
    formats = forms.MultipleChoiceField(label=_("Formats"), widget=forms.CheckboxSelectMultiple)
    root = forms.ChoiceField(label=_("Storage"))
    path = forms.CharField(label=_("Folder in the storage"), max_length=1000, required=False)
    every_days = forms.IntegerField(
        label=_("Every … days"), min_value=1, max_value=MOST_DAYS, required=False, initial=7
    )
    after_promotion = forms.BooleanField(label=_("After each promotion of a model"), required=False)

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        offered: dict[str, list[tuple[str, str]]] = {
            "formats": [(format, title_of(format)) for _title, formats in grouped_formats() for format in formats],
            "root": [(name, name) for name in settings.EXPORT_ROOTS],
        }
        for name, options in offered.items():
            self.fields[name].choices = options  # type: ignore[attr-defined]

    def plan(self, project: Project) -> dict[str, Any]:
        """The arguments of `create_schedule`."""
        plan = dict(self.cleaned_data)
        place = ExportPlace(plan.pop("root"), plan.pop("path"))
        filters = PRESETS[plan.pop("preset")].filters_for(project)
        return plan | {"place": place, "filters": filters}


def _when(schedule: ExportSchedule) -> str:
    times = []
    if schedule.every_days:
        times.append(ngettext("every day", "every %(n)s days", schedule.every_days) % {"n": schedule.every_days})
    if schedule.after_promotion:
        times.append(gettext("after each promotion"))
    return ", ".join(times)


def _latest_state(schedule: ExportSchedule) -> str:
    job = schedule.export_jobs.first()
    return job.state if job else ""


COLUMNS = [
    Column("name", _("Name"), sort=True, heading=True),
    Column("filters", _("Filters"), lambda schedule: describe_filters(schedule.filters)),
    Column("formats", _("Formats"), lambda schedule: ", ".join(map(title_of, schedule.formats))),
    Column("place", _("Folder"), lambda schedule: f"{schedule.root}: {schedule.path or '/'}"),
    Column("when", _("When"), _when),
    Column("last", _("Latest export"), lambda schedule: _latest_state(schedule)),
    Control("actions", _("Actions")),
]


@project_page(MANAGER)
def schedules(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = ScheduleForm(request.POST if request.method == "POST" else None)
    if request.method == "POST" and form.is_valid():
        done = gettext("Scheduled. The first export by days starts within minutes.")
        if attempt(request, done, create_schedule, project=member.project, **form.plan(member.project)):
            return redirect("export-schedules", member.project.slug)
    listing = Listing(request, member.project.export_schedules.all(), COLUMNS, sort="name")
    for row in listing:
        row.last = row.export_jobs.first()
    context = {"form": form, "storage": bool(settings.EXPORT_ROOTS)}
    return respond(request, "labelling_ui/export_schedules.html", listing, "export-schedules", context)


@project_action(MANAGER)
def change(request: HttpRequest, member: Membership, schedule_id: int) -> HttpResponseBase:
    """Pause, resume or delete a schedule."""
    schedule = get_object_or_404(member.project.export_schedules.select_related("project"), pk=schedule_id)
    action = posted_word(request, "action", "pause", "resume", "delete")
    if action == "delete":
        attempt(request, gettext("Deleted. Its snapshots and files stay."), delete_schedule, schedule=schedule)
    else:
        done = gettext("Paused.") if action == "pause" else gettext("Resumed.")
        attempt(request, done, set_schedule_active, schedule=schedule, active=action == "resume")
    return redirect("export-schedules", member.project.slug)
