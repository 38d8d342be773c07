"""The settings of the division of labour: the routing rules, one per row, and the share of audits."""

from typing import Any

import msgspec
from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.models import Project, Route
from annotation.models.routing_policy import RouteRule, RoutingPolicy
from labelling_ui.pages.settings.part import RowsPart

MOST_RULES = 50
LISTS = ("domains", "generators")


def _share(label: Any, help_text: Any = "", **named: Any) -> forms.FloatField:
    return forms.FloatField(required=False, label=label, help_text=help_text, **named)


class RuleForm(forms.Form):
    """One rule, with the fields of `RouteRule`; domains and generators are lines of a text."""

    use_required_attribute = False

    domains = forms.CharField(
        required=False, widget=forms.Textarea({"rows": 2}), label=_("Domains"), help_text=_("One per line; empty: all.")
    )
    generators = forms.CharField(
        required=False,
        widget=forms.Textarea({"rows": 2}),
        label=_("Generators"),
        help_text=_("One per line; empty: all."),
    )
    min_steps = forms.IntegerField(required=False, label=_("Steps, from"))
    max_steps = forms.IntegerField(required=False, label=_("Steps, to"))
    min_error = _share(
        _("Predicted error, from"), _("The champion’s probability of an error, 0 to 1. Needs a score of the solution.")
    )
    max_error = _share(_("Predicted error, to"))
    min_doubt = _share(
        _("Doubt, from"), _("1 if the champion gives an error the probability one half, 0 if it is certain.")
    )
    max_doubt = _share(_("Doubt, to"))
    route = forms.ChoiceField(choices=[("", "–"), *Route.choices], label=_("Route"))
    judges = forms.IntegerField(label=_("Judges per solution"), initial=1)
    unsure_steps = forms.IntegerField(
        label=_("A person follows from unsure steps"),
        help_text=_("Number of steps of which a judge is unsure. A person also follows if a judge gives up."),
        initial=1,
    )
    judges_differ = forms.BooleanField(
        required=False, label=_("A person follows if judges name different first errors"), initial=True
    )
    model_against = _share(
        _("A person follows if the champion contradicts a judge, above"),
        _("The champion’s probability that the judge is wrong about an error, 0 to 1; empty: never."),
        initial=0.5,
    )
    model_doubt = _share(_("A person follows from doubt"), _("0 to 1; empty: never."), initial=0.5)

    def clean_domains(self) -> list[str]:
        return _lines(self.cleaned_data["domains"])

    def clean_generators(self) -> list[str]:
        return _lines(self.cleaned_data["generators"])


Rows = forms.formset_factory(RuleForm, extra=1, can_delete=True, can_order=True, max_num=MOST_RULES, validate_max=True)


class RoutesPart(RowsPart):
    """The fields of `RoutingPolicy`. Empty rows are ignored."""

    heading = _("Routes")
    term = "route"
    template = "labelling_ui/settings/routes.html"
    rows_type = Rows
    rows_name = "routes"

    audit_share = forms.FloatField(
        label=_("Share of label audits"),
        help_text=_(
            "0 to 1. A random share of the solutions on a judge’s route is labelled by a person too, who does not see "
            "the judge’s label."
        ),
    )

    @classmethod
    def values(cls, project: Project) -> dict[str, Any]:
        routing: RoutingPolicy = project.policies.routing
        rules = [msgspec.structs.asdict(rule) for rule in routing.rules]
        shown = [rule | {name: "\n".join(rule[name]) for name in LISTS} for rule in rules]
        return {"audit_share": routing.audit_share, "routes": shown}

    def changes(self) -> dict[str, Any]:
        rows = [form.cleaned_data for form in self.rows.ordered_forms if form.cleaned_data.get("route")]
        rules = [{name: row[name] for name in RouteRule.__struct_fields__} for row in rows]
        return {"policy": {"routing": {"rules": rules, "audit_share": self.cleaned_data["audit_share"]}}}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
