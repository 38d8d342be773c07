"""The part of the settings that says how labels are weighed and watched."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.core.wording import in_words
from labelling_ui.pages.settings.part import PolicyPart
from prm.consensus import CONSENSUS


class WatchPart(PolicyPart):
    """The fields of `QualityPolicy`."""

    heading = gettext_lazy("How labels are weighed and watched")
    section = "quality"

    consensus = forms.ChoiceField(
        choices=lambda: [(name, in_words(CONSENSUS.get(name).title)) for name in CONSENSUS],
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
