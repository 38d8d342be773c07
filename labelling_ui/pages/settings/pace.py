"""The part of a project's settings that says how the workbench keeps a steady pace."""

from django import forms
from django.utils.translation import gettext_lazy

from labelling_ui.pages.settings.part import PolicyPart


class PacePart(PolicyPart):
    """The fields of `PacePolicy`."""

    heading = gettext_lazy("How steadily people work")
    section = "pace"

    idle_seconds = forms.IntegerField(
        label=gettext_lazy("Seconds of rest after which time stops counting"),
        help_text=gettext_lazy("with no key, no movement of the pointer and no scrolling"),
    )
    break_after_minutes = forms.IntegerField(
        label=gettext_lazy("Minutes of work after which a break is proposed"), help_text=gettext_lazy("0 for never")
    )
    session_goal = forms.IntegerField(
        label=gettext_lazy("Solutions that a sitting has as its goal"),
        help_text=gettext_lazy("0 for none; each person may set another"),
    )
