"""The part of a project's settings that says to whom, and where, the model's scores are shown beside the work."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import MEASURING_LANES, HintsPolicy, Lane, Membership
from labelling_ui.pages.settings.part import PolicyPart


class HintsPart(PolicyPart):
    """The fields of `HintsPolicy`, each under its name with `hints_` before it."""

    heading = gettext_lazy("The model’s hints")
    places = {f"hints_{name}": f"hints.{name}" for name in HintsPolicy.__struct_fields__}

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
        choices=[lane for lane in Lane.choices if lane[0] not in MEASURING_LANES],
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
