"""The part of a project's settings that says how the workbench keeps a steady pace."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import PacePolicy


class PaceFields(forms.Form):
    """The fields of `PacePolicy`."""

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

    pace = PacePolicy.__struct_fields__


def pace_initial(policy: PacePolicy) -> dict[str, Any]:
    return {name: getattr(policy, name) for name in PaceFields.pace}
