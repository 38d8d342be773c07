"""The part of a project's settings that says how many labels are asked for, and how work is handed out."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import LabelsWanted, Project, QueuePolicy
from labelling_ui.pages.settings.part import Part

WANTED = {f"wanted_{lane}": lane for lane in LabelsWanted.__struct_fields__}
HANDING_OUT = tuple(name for name in QueuePolicy.__struct_fields__ if name != "wanted")


class QueuePart(Part):
    """The fields of `QueuePolicy`, with a field for each lane's labels."""

    heading = gettext_lazy("How work is handed out")

    wanted_acquisition = forms.IntegerField(
        label=gettext_lazy("Labels of a solution: acquisition"), help_text=gettext_lazy("by so many people")
    )
    wanted_control = forms.IntegerField(label=gettext_lazy("Control"))
    wanted_holdout = forms.IntegerField(label=gettext_lazy("Holdout"))
    wanted_calibration = forms.IntegerField(label=gettext_lazy("Calibration"))
    wanted_overlap = forms.IntegerField(label=gettext_lazy("Overlap"))

    lease_minutes = forms.IntegerField(label=gettext_lazy("Minutes a solution stays claimed"))
    heartbeat_seconds = forms.IntegerField(
        label=gettext_lazy("Seconds between signs of life"), help_text=gettext_lazy("by which a page keeps its claim")
    )
    prefetch_depth = forms.IntegerField(label=gettext_lazy("Solutions fetched ahead"))
    daily_cap = forms.IntegerField(
        label=gettext_lazy("Solutions a person a day, at most"),
        help_text=gettext_lazy("0 for no limit; the day is that of the learning rounds’ time zone"),
    )
    cool_down_minutes = forms.IntegerField(
        label=gettext_lazy("Minutes between solutions of one problem"), help_text=gettext_lazy("for one person")
    )
    problem_again = forms.ChoiceField(
        choices=[
            ("same_day", gettext_lazy("on the same day")),
            ("next_day", gettext_lazy("on the next day at the earliest")),
            ("never", gettext_lazy("never")),
        ],
        label=gettext_lazy("The same problem comes to a person again"),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        policy = project.policies.queue
        values = {name: getattr(policy, name) for name in HANDING_OUT}
        return values | {name: getattr(policy.wanted, lane) for name, lane in WANTED.items()}

    def changes(self) -> dict[str, Any]:
        data = self.cleaned_data
        policy = {name: data[name] for name in HANDING_OUT}
        return {"policy": {"queue": policy | {"wanted": {lane: data[name] for name, lane in WANTED.items()}}}}

    def field_at(self, place: list[str]) -> str | None:
        return super().field_at([f"wanted_{name}" for name in place] if "wanted" in place else place)
