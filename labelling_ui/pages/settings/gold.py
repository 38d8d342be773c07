"""The part of a project's settings on hidden gold and on the screening of whoever is new."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import Membership
from labelling_ui.pages.settings.part import PolicyPart


class GoldPart(PolicyPart):
    """The fields of `GoldPolicy`."""

    heading = gettext_lazy("Hidden gold")
    section = "gold"

    share = forms.FloatField(
        label=gettext_lazy("Share of hidden gold"),
        help_text=gettext_lazy("of what each person is given, 0 to 0.5, where there is gold"),
    )
    tolerance = forms.IntegerField(
        label=gettext_lazy("Steps a first error may be off"), help_text=gettext_lazy("and still count as right on gold")
    )
    pause_below = forms.FloatField(
        label=gettext_lazy("Pause an annotator below"),
        help_text=gettext_lazy("share of the latest gold answers that are right, 0 to 1; 0 pauses nobody"),
    )
    pause_after = forms.IntegerField(label=gettext_lazy("Latest gold answers that count for a pause"))
    seen_by = forms.FloatField(
        label=gettext_lazy("Gold is worn out when seen by"), help_text=gettext_lazy("share of the annotators, 0 to 1")
    )
    disputed_by = forms.FloatField(
        label=gettext_lazy("Gold is suspect when disputed by"),
        help_text=gettext_lazy("share of the annotators who are good at other gold, 0 to 1"),
    )


class ScreeningPart(PolicyPart):
    """The fields of `ScreeningPolicy`."""

    heading = gettext_lazy("Screening")
    section = "screening"

    items = forms.IntegerField(
        label=gettext_lazy("Gold in a screening"),
        help_text=gettext_lazy("that everybody new labels first; 0 screens nobody"),
    )
    pass_mark = forms.IntegerField(
        label=gettext_lazy("Pass mark"), help_text=gettext_lazy("how many of them have to be right")
    )
    attempts = forms.IntegerField(label=gettext_lazy("Attempts"))
    feedback = forms.BooleanField(
        required=False, label=gettext_lazy("Show people afterwards which of their screening answers were right")
    )
    exempt = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Neither screened nor paused"),
    )
