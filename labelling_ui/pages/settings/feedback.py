"""The part of a project's settings on what people are told of how well they label."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Project
from labelling_ui.pages.settings.part import Part

FEEDBACK = ("gold", "peers")


class FeedbackPart(Part):
    """The fields of `FeedbackPolicy`, each with `told_` before its name."""

    heading = gettext_lazy("What people see of how they label")

    told_gold = forms.BooleanField(
        required=False,
        label=gettext_lazy("Their share of right answers on hidden gold"),
        help_text=gettext_lazy("of days that are over, and from ten answers on, so that nobody learns what was gold"),
    )
    told_peers = forms.BooleanField(
        required=False,
        label=gettext_lazy("How often they agree with others on the same solutions"),
        help_text=gettext_lazy("of days that are over, and from ten solutions on"),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {f"told_{name}": getattr(project.policies.feedback, name) for name in FEEDBACK}

    def changes(self) -> dict[str, Any]:
        return {"policy": {"feedback": {name: self.cleaned_data[f"told_{name}"] for name in FEEDBACK}}}
