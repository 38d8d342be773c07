"""The part of a project's settings that says how many labels are asked for, and how work is handed out."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import LabelsWanted
from labelling_ui.pages.settings.part import PolicyPart


class QueuePart(PolicyPart):
    """The fields of `QueuePolicy`, with a field for each lane's labels."""

    heading = gettext_lazy("How work is handed out")
    section = "queue"
    places = {f"wanted_{lane}": f"queue.wanted.{lane}" for lane in LabelsWanted.__struct_fields__}

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
