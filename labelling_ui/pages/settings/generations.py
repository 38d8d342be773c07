"""The part of the settings that says what a generation is made of."""

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import LaneMix
from annotation.models.policy import Caps
from labelling_ui.pages.settings.part import PolicyPart
from labelling_ui.templatetags.figures import acquisition_in_words
from prm.acquisition import FUNCTIONS


def _acquisitions() -> list[tuple[str, str]]:
    return [(name, acquisition_in_words(name)) for name in FUNCTIONS]


class GenerationsPart(PolicyPart):
    """How many solutions, how they are chosen, and the fields of `LaneMix` and `Caps`."""

    heading = gettext_lazy("What the queue holds")
    places = {
        **{lane: f"mix.{lane}" for lane in LaneMix.__struct_fields__},
        **{name: f"caps.{name}" for name in Caps.__struct_fields__},
    }

    generation_budget = forms.IntegerField(label=gettext_lazy("Solutions a generation"))
    control = forms.FloatField(label=gettext_lazy("Share of control"), help_text=gettext_lazy("0 to 1, at random"))
    holdout = forms.FloatField(label=gettext_lazy("Share of holdout"), help_text=gettext_lazy("measures the model"))
    calibration = forms.FloatField(
        label=gettext_lazy("Share of calibration"), help_text=gettext_lazy("fits its thresholds")
    )
    overlap = forms.FloatField(label=gettext_lazy("Share of overlap"), help_text=gettext_lazy("measures agreement"))
    acquisition = forms.ChoiceField(choices=_acquisitions, label=gettext_lazy("What to label next"))
    problem = forms.IntegerField(
        required=False,
        label=gettext_lazy("Most solutions of a problem"),
        help_text=gettext_lazy("in the acquisition lane; empty: one of each, more only if needed"),
    )
    domain = forms.FloatField(
        required=False,
        label=gettext_lazy("Greatest share of a domain"),
        help_text=gettext_lazy("in the acquisition lane, 0 to 1; empty: no cap"),
    )
    cold_start = forms.ChoiceField(
        choices=[
            ("random", gettext_lazy("at random")),
            ("surprisal", gettext_lazy("what surprises the backbone")),
        ],
        label=gettext_lazy("First generation, before there is a model"),
    )
