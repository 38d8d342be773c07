"""The part of the settings that says how labels are weighed and watched."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Project
from labelling_ui.pages.settings.part import Part


class WatchPart(Part):
    """The fields of `QualityPolicy`."""

    heading = gettext_lazy("How labels are weighed and watched")

    consensus = forms.ChoiceField(
        choices=[
            ("reliability", gettext_lazy("by how reliable each annotator is")),
            ("shares", gettext_lazy("all alike")),
        ],
        label=gettext_lazy("Labels are weighed"),
    )
    labels_between_false_alarms = forms.IntegerField(
        label=gettext_lazy("Labels between false alarms"),
        help_text=gettext_lazy("at least so many judged labels, on average"),
    )
    hold_rounds = forms.BooleanField(
        required=False, label=gettext_lazy("Begin no round by itself while a suspected batch waits for a decision")
    )
    set_aside = forms.BooleanField(
        required=False, label=gettext_lazy("Set aside at once what other people’s labels speak against")
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        return {name: getattr(project.policies.quality, name) for name in cls.base_fields}

    def changes(self) -> dict[str, Any]:
        return {"policy": {"quality": self.cleaned_data}}
