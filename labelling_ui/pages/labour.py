"""The division of labour: what each route labels, how often it is right, and what that costs."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.labour.audit_estimates import LEAST
from annotation.labels.labour.route_figures import RouteFigures, figures_by_domain, figures_by_route
from annotation.models import Membership, Route
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Choice, Column, Number, Statistic, write_estimate
from labelling_ui.pages.listing import Table
from labelling_ui.templatetags.figures import NOTHING, money, percent


@dataclass(frozen=True)
class Rows(Number):
    """A count that links to its rows on a page: filtered by the route and the domain, and by `query`."""

    page: str = "labels"
    query: tuple[tuple[str, str], ...] = ()

    def html(self, row: RouteFigures, slug: str = "") -> SafeString:
        domain = {} if row.domain is None else {"domain": row.domain}
        query = urlencode({"route": row.route, **domain, **dict(self.query)})
        number = super().html(row, slug)
        return (
            format_html('<a href="{}?{}">{}</a>', reverse(self.page, args=[slug]), query, number)
            if self.value(row)
            else number
        )


def _accuracy(row: RouteFigures, name: str) -> SafeString | str:
    """An accuracy with its interval and the number of labels behind it."""
    accuracy = getattr(row, name)
    if accuracy is not None:
        return write_estimate(accuracy, percent)
    return gettext("too few label audits") if name == "judge_accuracy" and row.judged_alone else NOTHING


def _per_solution(row: RouteFigures) -> str:
    return money(row.cost.per_solution) if row.cost else NOTHING


def _per_right(row: RouteFigures) -> SafeString | str:
    return write_estimate(row.cost, money, value="per_right") if row.cost and row.cost.per_right else NOTHING


def _other(row: RouteFigures) -> str:
    return NOTHING if row.other_cost is None else f"{money(row.other_cost)} ({Route(row.other).label})"


HUMAN, JUDGE, AUDIT = ("source", "human"), ("source", "model_judge"), ("handed_over", "audit")
ROUTE = Choice("route", _("Route"), choices=Route.choices, heading=True, term="route")
WORK = [
    Rows("items", _("Solutions"), page="solutions"),
    Number("done", _("Done")),
    Number("judged_alone", _("By judges alone"), help=_("Solutions whose result is a judge’s, audits aside.")),
    Rows("judge_labels", _("Judges’ labels"), query=(JUDGE,)),
    Rows("people_labels", _("People’s labels"), query=(HUMAN,), help=_("Without audits.")),
    Rows("audits", _("Label audits"), query=(AUDIT,), term="label_audit"),
    Statistic(
        "judge_accuracy",
        _("Judges right"),
        "judge_accuracy__value",
        shown=lambda row: _accuracy(row, "judge_accuracy"),
        help=_("Share of judges’ results with the right first error, from audits weighted by their probability."),
    ),
    Statistic(
        "people_accuracy",
        _("People right"),
        "people_accuracy__value",
        shown=lambda row: _accuracy(row, "people_accuracy"),
        help=_("Share of right answers to hidden gold."),
    ),
    Statistic(
        "accuracy",
        _("Route right"),
        "accuracy__value",
        shown=lambda row: _accuracy(row, "accuracy"),
        help=_("Judges and people, weighted by the share of solutions that each of them decides."),
    ),
]
COST = [
    Statistic(
        "cost",
        _("Cost per solution"),
        "cost__per_solution",
        shown=_per_solution,
        help=_("Judges’ calls, or machines’ cost per label, and people’s active time. Label audits are not included."),
    ),
    Statistic(
        "per_right",
        _("Cost per right solution"),
        "cost__per_right",
        shown=_per_right,
        help=_("Cost per solution divided by the share of right results: lower is better."),
    ),
]
IN_ALL = [
    Statistic(
        "audit_cost",
        _("Label audits in all"),
        write=money,
        term="label_audit",
        help=_("What people’s labels of label audits cost."),
    ),
    Statistic(
        "other_cost",
        _("All on another route"),
        shown=_other,
        help=_("What the same solutions would cost in all if a person alone, or one judge alone, labelled them."),
    ),
]
DOMAIN = Column("domain", _("Domain"), heading=True)


@project_page(*STAFF)
def labour(request: HttpRequest, member: Membership) -> HttpResponse:
    project = member.project
    routes, domains = CachedFigures(request, project)(
        "labour", lambda: (figures_by_route(project), figures_by_domain(project))
    )
    context: dict[str, Any] = {
        "routes": Table(routes, [ROUTE, *WORK], name=gettext("Work and accuracy")),
        "costs_of_routes": Table(routes, [ROUTE, *COST, *IN_ALL], name=gettext("Costs")),
        "domains": Table(domains, [DOMAIN, ROUTE, *WORK], name=gettext("Work and accuracy by domain")),
        "costs_of_domains": Table(domains, [DOMAIN, ROUTE, *COST], name=gettext("Costs by domain")),
        "costs": project.policies.costs,
        "divided": any(row.route != Route.PERSON for row in routes),
        "rules": project.policies.routing.rules,
        "least": LEAST,
    }
    return render(request, "labelling_ui/labour.html", context)
