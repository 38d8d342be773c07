"""The part of a project's settings that says how many labels are asked for, and how work is handed out."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import LabelsWanted, QueuePolicy

LANES = LabelsWanted.__struct_fields__
WANTED = {f"wanted_{lane}": lane for lane in LANES}


class QueueFields(forms.Form):
    """The fields of `QueuePolicy`, with a field for each lane's labels."""

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
        help_text=gettext_lazy("0 for no limit; the day is the time zone’s below"),
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

    handing_out = tuple(name for name in QueuePolicy.__struct_fields__ if name != "wanted")

    def queue_policy(self) -> dict[str, Any]:
        """What the policy holds under `queue`; only of a valid form."""
        policy = {name: self.cleaned_data[name] for name in self.handing_out}
        return policy | {"wanted": {lane: self.cleaned_data[name] for name, lane in WANTED.items()}}


def queue_initial(policy: QueuePolicy) -> dict[str, Any]:
    values = {name: getattr(policy, name) for name in QueueFields.handing_out}
    return values | {name: getattr(policy.wanted, lane) for name, lane in WANTED.items()}
