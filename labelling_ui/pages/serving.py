"""The model in use by programs: traffic, latency, flags, limits, and the log of served scores."""

from datetime import timedelta
from functools import partial
from typing import Any

from django import forms
from django.db import transaction
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.core.membership.projects import change_project, lock_project
from annotation.loop.registry import champion_of
from annotation.models import DomainChampion, Membership, ServedScore
from annotation.serving import reviewing
from annotation.serving.journal import with_words
from annotation.serving.traffic import Bin, Traffic, failures_of, traffic_of
from labelling_ui.charts import Chart, Point, Series, bar_chart, line_chart
from labelling_ui.numbers import day_of_month, decimal
from labelling_ui.pages.access import MANAGER, STAFF, attempt, project_action, project_page
from labelling_ui.pages.columns import Column, Duration, Number, When
from labelling_ui.pages.listing import Filters, Listing, respond
from labelling_ui.pages.settings.part import PolicyPart
from labelling_ui.templatetags.figures import NOTHING, percent, tags
from labelling_ui.words import ALL

PERIODS: dict[str, tuple[int, Bin]] = {"day": (24, "hour"), "month": (30, "day")}
REQUEST_DIGITS, HASH_DIGITS = 32, 64
VERDICTS = {
    "suspicious": (_("suspicious"), Q(first_suspicious__gte=0)),
    "abstained": (_("abstained"), Q(abstained=True)),
    "out_of_domain": (_("out of domain"), Q(out_of_domain=True)),
    "failed": (_("failed"), ~Q(failure="")),
}


class LimitsForm(PolicyPart):
    """The fields of `ServingPolicy`."""

    section = "serving"

    requests_per_minute = forms.IntegerField(label=_("Requests per minute"))
    requests_per_day = forms.IntegerField(label=_("Requests per day"))
    steps_per_minute = forms.IntegerField(label=_("Steps per minute"))
    steps_per_day = forms.IntegerField(label=_("Steps per day"))
    log_days = forms.IntegerField(label=_("Score log retention (days)"))
    keep_text = forms.BooleanField(required=False, label=_("Store texts in the log, not only their hashes"))


class LogFilters(Filters):
    q = forms.CharField(label=_("Words, request id or hash"))
    verdict = forms.ChoiceField(
        choices=[ALL, *((name, label) for name, (label, _rows) in VERDICTS.items())], label=_("Show only")
    )
    model = forms.IntegerField(min_value=1, label=_("Model"))

    own = ("q",)
    lookups = {"verdict": lambda rows, verdict: rows.filter(VERDICTS[verdict][1]), "model": "model_number"}

    def narrow(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        if named := self.chosen().get("q", "").strip():
            digits = named.replace("-", "").lower()
            digest = digits if set(digits) <= set("0123456789abcdef") else ""
            if len(digest) == REQUEST_DIGITS:
                rows = rows.filter(request=digest)
            elif len(digest) == HASH_DIGITS:
                rows = rows.filter(text_hash=digest)
            else:
                rows = with_words(rows, named)
        return super().narrow(rows)


def _who(row: ServedScore) -> str:
    if row.token is not None:
        return row.token.name
    return row.user.username if row.user else ""


def _flags(row: ServedScore) -> list[str]:
    flags = {
        gettext("abstained"): row.abstained,
        gettext("out of domain"): row.out_of_domain,
        row.failure: bool(row.failure),
    }
    return [name for name, held in flags.items() if held]


def _first_suspicious(row: ServedScore) -> str:
    if row.first_suspicious is None:
        return NOTHING if row.failure else "?"
    return NOTHING if row.first_suspicious < 0 else str(row.first_suspicious + 1)


COLUMNS = [
    When("asked", _("Requested"), "asked_at", sort=True),
    Column("request", _("Request"), lambda row: f"{row.request}/{row.index}", heading=True),
    Column("token", _("By"), _who),
    Number("model", _("Model"), "model_number", sort=True, write=str),
    Number("score", _("Score"), sort=True, write=partial(decimal, digits=2), term="score"),
    Number(
        "first_suspicious",
        _("First suspicious"),
        shown=_first_suspicious,
        help=_("The first step whose score is below the model’s threshold for a solution of this length."),
    ),
    Number(
        "uncertainty",
        _("Uncertainty"),
        sort=True,
        write=partial(decimal, digits=2),
        help=_("How much the heads of the model’s ensemble disagree; 0 is full agreement."),
    ),
    Column("flags", _("Flags"), lambda row: " ".join(_flags(row)), shown=lambda row: tags(_flags(row))),
    Duration("seconds", _("Time"), sort=True),
]


@project_page(*STAFF)
def serving(request: HttpRequest, member: Membership) -> HttpResponse:
    project = member.project
    period = request.GET.get("period", "day")
    bins, size = PERIODS.get(period, PERIODS["day"])
    traffic = traffic_of(project, bins=bins, size=size)
    context = {
        "champion": champion_of(project),
        "own": DomainChampion.objects.filter(project=project).select_related("model_version").order_by("domain"),
        "period": period if period in PERIODS else "day",
        "requests": sum(one.requests for one in traffic),
        "solutions": sum(one.solutions for one in traffic),
        "failed": sum(one.failed for one in traffic),
        "failures": failures_of(project, since=timezone.now() - timedelta(days=1 if size == "hour" else bins)),
        "charts": _charts(traffic, size),
        "form": LimitsForm(initial=LimitsForm.values(project)),
        "address": request.build_absolute_uri("/").rstrip("/"),
    }
    return render(request, "labelling_ui/serving.html", context)


@project_action(MANAGER)
@transaction.atomic
def set_limits(request: HttpRequest, member: Membership) -> HttpResponseBase:
    form = LimitsForm(request.POST)
    if not form.is_valid():
        return render(request, "labelling_ui/serving_limits.html", {"form": form}, status=400)
    project = lock_project(member.project)
    done = gettext("Limits saved. They apply from the next request.")
    attempt(request, done, change_project, project=project, policy=project.policy | form.changes()["policy"])
    return redirect("serving", project.slug)


@project_page(*STAFF)
def log(request: HttpRequest, member: Membership) -> HttpResponseBase:
    rows = ServedScore.objects.filter(project=member.project).select_related("token", "user", "model_version")
    listing = Listing(request, rows, COLUMNS, sort="-asked", filters=LogFilters(request.GET))
    return respond(request, "labelling_ui/served_scores.html", listing, "scores")


@project_page(*STAFF)
def score(request: HttpRequest, member: Membership, row_id: int) -> HttpResponse:
    row = _row(member, row_id)
    text = reviewing.text_of(row) if row.text is not None else None
    reviewed = reviewing.find_review(row.model_version, text) if text and row.model_version else None
    context = {
        "row": row,
        "who": _who(row) or NOTHING,
        "flags": _flags(row),
        "problem": text.problem if text else "",
        "steps": _steps(row, text.steps if text else None, reviewed),
        "review": reviewed,
        "same": ServedScore.objects.filter(project=member.project, text_hash=row.text_hash).exclude(pk=row.pk)[:10],
    }
    return render(request, "labelling_ui/served_score.html", context)


@project_action(*STAFF)
def review(request: HttpRequest, member: Membership, row_id: int) -> HttpResponseBase:
    attempt(request, "", reviewing.request_review_of_row, row=_row(member, row_id))
    return redirect("served-score", member.project.slug, row_id)


def _row(member: Membership, row_id: int) -> ServedScore:
    rows = ServedScore.objects.select_related("project", "token", "user", "model_version__snapshot")
    return get_object_or_404(rows, project=member.project, pk=row_id)


def _steps(
    row: ServedScore, texts: tuple[tuple[str, str], ...] | None, reviewed: reviewing.Review | None
) -> list[dict[str, Any]]:
    reasons = {reason.position: reason for reason in reviewed.reasons} if reviewed else {}
    return [
        {
            "position": position,
            "text": texts[position][0] if texts else "",
            "kind": texts[position][1] if texts else "reasoning",
            "mean": mean,
            "spread": row.spread[position],
            "suspicious": position == row.first_suspicious,
            "reason": reasons.get(position),
        }
        for position, mean in enumerate(row.mean)
    ]


def _charts(traffic: list[Traffic], size: Bin) -> list[Chart]:
    def label(one: Traffic) -> str:
        at = timezone.localtime(one.begins)
        return at.strftime("%H:%M") if size == "hour" else day_of_month(at)

    def line(name: str, look: str, field: str) -> Series:
        return Series(name, look, [Point(label(one), getattr(one, field)) for one in traffic])

    places = gettext("hour") if size == "hour" else gettext("day")
    requests = line(gettext("requests"), "first", "requests")
    latency = [line(gettext("median"), "first", "median"), line(gettext("95th percentile"), "second", "p95")]
    doubts = [
        line(gettext("abstained"), "first", "abstained"),
        line(gettext("out of domain"), "second", "out_of_domain"),
    ]
    failed = line(gettext("failed"), "first", "failed")
    return [
        bar_chart(
            gettext("Requests"),
            requests,
            help=gettext("Requests for scores in each hour or day."),
            places=places,
            no_values=gettext("No requests yet."),
        ),
        line_chart(
            gettext("Latency"),
            latency,
            help=gettext("The time from a request to its answer: the median and the 95th percentile."),
            places=places,
            no_values=gettext("Latency appears after the first answers."),
            form=lambda seconds: f"{decimal(1000 * seconds)} ms",
        ),
        line_chart(
            gettext("Doubtful scores"),
            doubts,
            help=gettext("The share of solutions where the model abstained, or that differ from its training data."),
            places=places,
            no_values=gettext("No requests yet.")
            if not any(one.requests for one in traffic)
            else gettext("The served model has no limits for abstention or domain. Retrain to get them."),
            form=percent,
            top=1.0,
        ),
        bar_chart(
            gettext("Failed requests"),
            failed,
            help=gettext("Requests that ended in an error in each hour or day."),
            places=places,
            no_values=gettext("No failed requests."),
        ),
    ]
