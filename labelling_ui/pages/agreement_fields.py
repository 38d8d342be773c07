"""The form fields of an agreement rule, for snapshots and for what trains."""

from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.models import choices
from annotation.models.agreement_rule import AgreementRule

NAMES = ("sources", "on", "keep", "silent")
FIELDS = tuple(f"agreement_{name}" for name in NAMES)


class AgreementFields(forms.Form):
    """The fields of the rule. Without a source there is no rule."""

    agreement_sources = forms.MultipleChoiceField(
        choices=choices.SOURCE_KINDS,
        required=False,
        widget=forms.CheckboxSelectMultiple,
        label=_("Compare these sources"),
        help_text=_("Choose two or more. With none chosen, agreement between sources does not matter."),
    )
    agreement_keep = forms.ChoiceField(
        choices=[("agreeing", _("where they agree")), ("differing", _("where they differ"))],
        required=False,
        label=_("Keep the solutions"),
    )
    agreement_on = forms.ChoiceField(
        choices=[
            ("first_error", _("on the first error")),
            ("within_one", _("on the first error, within one step")),
            ("presence", _("on whether there is an error")),
        ],
        required=False,
        label=_("Sources must agree"),
    )
    agreement_silent = forms.ChoiceField(
        choices=[("dropped", _("are excluded")), ("kept", _("are kept"))],
        required=False,
        label=_("Solutions without labels from one of the sources"),
    )

    def clean_agreement_sources(self) -> list[str]:
        sources: list[str] = self.cleaned_data["agreement_sources"]
        if len(sources) == 1:
            raise forms.ValidationError(gettext("Choose at least one more source to compare with, or choose none."))
        return sources

    def agreement(self) -> dict[str, Any] | None:
        """The rule as stored in filters and policies."""
        if not self.cleaned_data["agreement_sources"]:
            return None
        return {name: value for name in NAMES if (value := self.cleaned_data[f"agreement_{name}"])}


def rule_address(sent: QueryDict) -> str:
    """The fields of a rule as parameters of an address."""
    return urlencode([(name, value) for name in FIELDS for value in sent.getlist(name)])


def agreement_initial(rule: AgreementRule | None) -> dict[str, Any]:
    return {} if rule is None else {f"agreement_{name}": getattr(rule, name) for name in NAMES}
