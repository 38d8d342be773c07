"""The part of a project's settings that says to whom, and where, the model's scores are shown beside the work."""

from typing import Any, get_args

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import HintsPolicy, Membership
from annotation.models.hints_policy import HintedLane
from labelling_ui import words

HINTS = {f"hints_{name}": name for name in HintsPolicy.__struct_fields__}


class HintsFields(forms.Form):
    """The fields of `HintsPolicy`, each under its name with `hints_` before it."""

    hints_share = forms.FloatField(
        label=gettext_lazy("Share of solutions with a hint"),
        help_text=gettext_lazy("drawn for each person and solution, 0 to 0.5; the others are what hints are held to"),
    )
    hints_reveal = forms.ChoiceField(
        choices=[
            ("reached", gettext_lazy("once the step is reached")),
            ("rated", gettext_lazy("once the step is rated")),
            ("on_request", gettext_lazy("on request, by a key")),
        ],
        label=gettext_lazy("The score of a step is shown"),
    )
    hints_lanes = forms.MultipleChoiceField(
        choices=[lane for lane in words.LANES if lane[0] in get_args(HintedLane)],
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Lanes with hints"),
        help_text=gettext_lazy(
            "Without gold among them, whoever sees a hint knows that the solution is no gold. Overlap measures how far "
            "people agree by themselves."
        ),
    )
    hints_roles = forms.MultipleChoiceField(
        choices=Membership.Role.choices,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=gettext_lazy("Who sees hints"),
    )

    def hints_policy(self) -> dict[str, Any]:
        """What the policy holds under `hints`; only of a valid form."""
        return {name: self.cleaned_data[field] for field, name in HINTS.items()}


def hints_initial(policy: HintsPolicy) -> dict[str, Any]:
    return {field: getattr(policy, name) for field, name in HINTS.items()}
