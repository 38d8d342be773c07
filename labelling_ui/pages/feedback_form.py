"""The part of a project's settings on what people are told of how well they label."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy

from annotation.models import ProjectPolicy

FEEDBACK = ("gold", "peers")


class FeedbackFields(forms.Form):
    """The fields of `FeedbackPolicy`, each with `told_` before its name."""

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

    told = tuple(f"told_{name}" for name in FEEDBACK)

    def feedback_policy(self) -> dict[str, Any]:
        """`feedback` as the policy has it."""
        return {name: self.cleaned_data[f"told_{name}"] for name in FEEDBACK}


def feedback_initial(policy: ProjectPolicy) -> dict[str, Any]:
    return {f"told_{name}": getattr(policy.feedback, name) for name in FEEDBACK}
