"""Consensus fits: the list, and one fit with its annotators, its class shares and what it changed."""

from collections.abc import Iterator
from functools import partial
from typing import Any, NamedTuple

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.wording import in_words
from annotation.labels.consensus.fits import labels_seen, latest_fit, request_fit, scope_of
from annotation.models import ConsensusFit, Membership
from annotation.models.consensus_fit import FitReport
from labelling_ui.numbers import decimal
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Column, Estimate, Number, Share, State, Statistic, When
from labelling_ui.pages.listing import Listing, Table, respond
from labelling_ui.pages.people import FITTED, FittedAnnotator, fitted_annotators
from labelling_ui.templatetags.figures import percent
from prm.consensus import CONSENSUS


class DomainShares(NamedTuple):
    """The shares of good, neutral and bad steps in a domain, "" for all domains."""

    domain: str
    good: float
    neutral: float
    bad: float


def method_in_words(name: str) -> str:
    """The title of a consensus model; the name if it is no longer registered."""
    return in_words(CONSENSUS.get(name).title) if name in CONSENSUS else name


two_digits = partial(decimal, digits=2)
COLUMNS = [
    Column("fit", _("Fit"), "number", sort=True, link="consensus-fit", heading=True, term="consensus_fit"),
    State("state", _("State"), sort=True, choices=ConsensusFit.State.choices),
    When("made", _("Made"), "created_at", sort=True),
    Column("method", _("Method"), sort=True, write=method_in_words),
    Number("labels", _("Labels"), "report__labels", help=_("Labels that the fit read.")),
    Number("annotators", _("Annotators"), lambda fit: fit.report and len(fit.report.annotators)),
    Estimate(
        "accuracy",
        _("Right on known steps"),
        "report__gold__accuracy",
        write=percent,
        term="gold",
        help=_("The share of steps decided by gold or a reviewer that the other labels lead to, with a 95 % interval."),
    ),
    Estimate(
        "majority",
        _("Majority vote"),
        "report__gold__majority",
        write=percent,
        help=_("The same share for the most frequent rating."),
    ),
    Statistic(
        "nll",
        _("Surprise"),
        "report__gold__nll",
        write=two_digits,
        help=_("How surprising the known ratings are to the fit, in nats per step. Lower is better."),
    ),
    Number("changed", _("Steps changed"), "report__changed", help=_("Steps whose likeliest rating changed.")),
    Column("outcome", _("Outcome"), write=in_words, look="gate-text"),
]
SHARES = [
    Column("domain", _("Domain"), shown=lambda row: row.domain or gettext("all domains"), heading=True),
    *(
        Share(name, label, write=partial(percent, digits=1), help=_("The share of steps with this rating."))
        for name, label in (("good", _("Good")), ("neutral", _("Neutral")), ("bad", _("Bad")))
    ),
]
CHANGES = [
    Number("solution", _("Solution"), link="solution", write=str, heading=True),
    Number("step", _("Step"), lambda change: change.position + 1),
    Number("alternative", _("Alternative"), lambda change: change.alternative or None),
    Share("before", _("Bad before"), help=_("The probability of bad under the fit before.")),
    Share("after", _("Bad now"), help=_("The probability of bad under this fit.")),
]


@project_page(*STAFF)
def consensus_fits(request: HttpRequest, member: Membership) -> HttpResponseBase:
    project = member.project
    listing = Listing(request, project.consensus_fits.select_related("project"), COLUMNS, sort="-fit")
    method, source_kinds = scope_of(project)
    latest = latest_fit(project)
    context = {
        "live": project.consensus_fits.filter(state__in=ConsensusFit.LIVE).first(),
        "learns": method in CONSENSUS and CONSENSUS.get(method).learns,
        "method": method,
        "source_kinds": source_kinds,
        "latest": latest,
        "stale": latest is not None and latest.seen != labels_seen(project),
    }
    return respond(request, "labelling_ui/consensus_fits.html", listing, "consensus-fits", context)


@project_action(MANAGER)
def fit_now(request: HttpRequest, member: Membership) -> HttpResponseBase:
    fit = attempt(request, "", request_fit, project=member.project)
    return (
        redirect("consensus-fit", member.project.slug, fit.number)
        if fit
        else redirect("consensus-fits", member.project.slug)
    )


@project_page(*STAFF)
def consensus_fit(request: HttpRequest, member: Membership, number: int) -> HttpResponse:
    fits = member.project.consensus_fits.select_related("project", "previous", "requested_by")
    fit = get_object_or_404(fits, number=number)
    report = fit.report
    context: dict[str, Any] = {"job": fit, "method": method_in_words(fit.method), "report": report}
    if report is not None:
        shown = fitted_annotators(member.project, report.annotators)
        context |= {
            "annotators": Table(shown, FITTED, name=gettext("Annotators")),
            "shares": Table(list(_shares(report)), SHARES, name=gettext("Shares of ratings")),
            "changes": Table(report.changes, CHANGES, name=gettext("Changed steps")),
            "groups": list(_groups(report, shown)),
        }
    return render(request, "labelling_ui/consensus_fit.html", context)


def _shares(report: FitReport) -> Iterator[DomainShares]:
    for domain, (good, neutral, bad) in report.shares.items():
        yield DomainShares(domain, good, neutral, bad)


def _groups(report: FitReport, annotators: list[FittedAnnotator]) -> Iterator[list[str]]:
    names = {one.name: one.shown for one in annotators}
    for group in report.groups:
        yield [names.get(name, name) for name in group]
