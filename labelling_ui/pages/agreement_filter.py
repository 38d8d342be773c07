"""What an agreement rule between sources keeps and drops, with the dropped solutions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase, QueryDict
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from annotation.labels.agreement.agreement_discards import (
    GROUPINGS,
    Discards,
    Filtered,
    count_discards,
    filter_solutions,
)
from annotation.loop.pool.scored_solutions import solutions_with_scores
from annotation.loop.registry.champions import champion_of
from annotation.models import Membership
from annotation.models.agreement_rule import AgreementRule
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.agreement_fields import FIELDS, AgreementFields, agreement_initial, rule_address
from labelling_ui.pages.columns import Column, Number, Share
from labelling_ui.pages.listing import Filters, Listing, Table, respond
from labelling_ui.pages.solutions import COLUMNS
from labelling_ui.templatetags.figures import source_in_words

GROUPS = {
    "error": _("Reported error"),
    "verdicts": _("Verdicts"),
    "domain": _("Domain"),
    "length": _("Steps"),
}
REPORTED = {"reported": _("a source reports an error"), "none": _("no source reports an error")}
VERDICTS = {"error": _("error"), "none": _("no error"), "both": _("both"), "silent": _("no label")}
WHY = {"dropped": False, "silent": True}  # whether a source is silent


class DiscardFilters(AgreementFields, Filters):
    """The rule, and one group of the solutions that it drops."""

    group = forms.ChoiceField(choices=[(by, by) for by in GROUPINGS], widget=forms.HiddenInput)
    value = forms.CharField(widget=forms.HiddenInput)
    why = forms.ChoiceField(choices=[(why, why) for why in WHY], widget=forms.HiddenInput)

    def __init__(self, data: QueryDict) -> None:
        super().__init__(data)
        self.filtered: Sequence[Filtered] = ()

    def rule(self) -> AgreementRule | None:
        self.is_valid()
        chosen = None if self.errors else self.agreement()
        return None if chosen is None else msgspec.convert(chosen, AgreementRule)

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The dropped solutions, of one group if the address names one."""
        chosen = self.chosen()
        dropped = [one for one in self.filtered if not one.kept]
        if by := chosen.get("group"):
            dropped = [one for one in dropped if getattr(one, by) == chosen.get("value", "")]
        if why := chosen.get("why"):
            dropped = [one for one in dropped if one.silent == WHY[why]]
        return rows.filter(pk__in=[one.solution for one in dropped])


@dataclass(frozen=True)
class Dropped(Number):
    """A count of dropped solutions, linked to them; `rule` has the parameters of the address."""

    rule: str = ""

    def html(self, row: Discards, slug: str = "") -> SafeString:
        number = super().html(row, slug)
        group = urlencode({"group": row.by, "value": row.value, "why": self.name})
        return format_html('<a href="?{}&{}#list">{}</a>', self.rule, group, number) if self.value(row) else number


def _in_words(group: Discards) -> str:
    """The value of a group in the reader's words."""
    if group.by == "error":
        return str(REPORTED[group.value])
    if group.by != "verdicts":
        return group.value
    verdicts = (one.rpartition(": ") for one in group.value.split(" · "))
    return " · ".join(f"{_source(source)}: {VERDICTS[verdict]}" for source, _colon, verdict in verdicts)


def _source(source: str) -> str:
    kind, _colon, name = source.partition(":")
    return f"{name} ({source_in_words(kind)})" if name else str(source_in_words(kind))


def _columns(rule: str) -> list[Column]:
    return [
        Column("value", _("Solutions"), heading=True, shown=_in_words),
        Number("kept", _("Kept")),
        Dropped(
            "dropped", _("Dropped"), rule=rule, help=_("For what the sources say; select a count to see the solutions.")
        ),
        Dropped("silent", _("Dropped: a source is silent"), rule=rule),
        Share("share", _("Share dropped"), help=_("A rule is selective if this differs much between the rows.")),
    ]


@project_page(*STAFF)
def agreement_filter(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    sent = request.GET.copy()
    stored = project.policies.training_agreement
    if not any(name in sent for name in FIELDS) and stored is not None:
        for name, value in agreement_initial(stored).items():
            sent.setlist(name, value if isinstance(value, list) else [value])
    filters = DiscardFilters(sent)
    rule = filters.rule()
    filters.filtered = [] if rule is None else list(filter_solutions(project, rule))
    groups = count_discards(iter(filters.filtered))
    columns = _columns(rule_address(sent))
    champion = champion_of(project)
    listing = Listing(request, solutions_with_scores(project, champion), COLUMNS, sort="-solution", filters=filters)
    context = {
        "rule": rule,
        "kept": sum(one.kept for one in filters.filtered),
        "all": len(filters.filtered),
        "groups": [
            (heading, Table([group for group in groups if group.by == by], columns, name=heading))
            for by, heading in GROUPS.items()
        ],
    }
    return respond(request, "labelling_ui/agreement_filter.html", listing, "dropped", context)
