"""The part of a project's settings on what people are told of how well they label."""

from django import forms
from django.utils.translation import gettext_lazy

from labelling_ui.pages.settings.part import PolicyPart


class FeedbackPart(PolicyPart):
    """The fields of `FeedbackPolicy`, each with `told_` before its name."""

    heading = gettext_lazy("What people see of how they label")
    places = {"told_gold": "feedback.gold", "told_peers": "feedback.peers"}

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
