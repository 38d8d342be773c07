"""Comparisons of labels: between sources, and between labels made with and without hints."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.html import conditional_escape, format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.agreement import contrast
from annotation.labels.annotators.hint_effects import HintComparison, compare_hints
from annotation.models import Membership
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import day_of_month, decimal
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Column, Number, write_estimate
from labelling_ui.pages.listing import Table
from labelling_ui.templatetags.figures import NOTHING, count, percent, points, share_of


@dataclass(frozen=True)
class Way(Number):
    """One way in which pairs of labels can compare: the pairs, linked to their solutions, and their share."""

    def html(self, row: Any, slug: str = "") -> SafeString:
        n, pairs = self.value(row), row["counts"].pairs
        query = urlencode({"one": row["one"].pk, "other": row["other"].pk, "way": self.name})
        number = format_html('<a href="{}?{}">{}</a>', reverse("solutions", args=[slug]), query, count(n)) if n else "0"
        if self.name == "pairs":
            return conditional_escape(number)
        return format_html('{} <span class="muted small">{}</span>', number, percent(share_of(n, pairs)))


SOURCES = [
    Column("sources", _("Sources"), "one__name", heading=True),
    Way("pairs", _("Both labelled"), "counts__pairs"),
    Way("exact", _("Same first error"), "counts__exact"),
    Way("within_one", _("Within one step"), "counts__within_one"),
    Way("differing", _("Different"), "counts__differing"),
    Way("both", _("Both report an error"), "counts__both"),
    Way("neither", _("Neither reports one"), "counts__neither"),
    Way("only_one", _("First only"), "counts__only_one"),
    Way("only_other", _("Second only"), "counts__only_other"),
]
ARMS = [
    Column("name", _("Measure"), heading=True),
    Number("hinted", _("With a hint"), write=conditional_escape, term="hint"),
    Number("blind", _("Blind arm"), write=conditional_escape, term="blind_arm"),
    Number(
        "gap",
        _("Difference, points"),
        write=conditional_escape,
        help=_("With a hint minus without, in percentage points."),
    ),
]
SHARES = {
    "agrees": _("Same first error as the model"),
    "right": _("Right, on solutions with a known first error"),
    "misled": _("Same as the model, where the model is known to be wrong"),
    "finds": _("Report an error"),
}


@project_page(*STAFF)
def contrasts(request: HttpRequest, member: Membership) -> HttpResponse:
    cached = CachedFigures(request, member.project)
    pairs = cached("contrasts", partial(contrast.contrasts, member.project))
    rows = [{"one": one, "other": other, "counts": counts} for one, other, counts in pairs]
    return render(request, "labelling_ui/contrasts.html", {"sources": Table(rows, SOURCES)})


@project_page(*STAFF)
def hints(request: HttpRequest, member: Membership) -> HttpResponse:
    cached = CachedFigures(request, member.project)
    designs = [
        {"comparison": one, "verdict": _verdict(one), "arms": Table(_arms(one), ARMS), "weeks": _weeks(one)}
        for one in cached("hints", partial(compare_hints, member.project))
    ]
    return render(request, "labelling_ui/hints.html", {"designs": designs, "policy": member.project.policies.hints})


def _arms(comparison: HintComparison) -> list[dict[str, Any]]:
    """The rows of the table that compares both arms: number of labels, shares and pace."""
    hinted, blind, gaps = comparison.hinted, comparison.blind, comparison.gaps
    seconds, ratio = partial(decimal, digits=1), partial(decimal, digits=2)
    return [
        {"name": _("Labels"), "arm": True, "hinted": count(hinted.labels), "blind": count(blind.labels)},
        *(
            {
                "name": name,
                "hinted": _share(getattr(hinted, field)),
                "blind": _share(getattr(blind, field)),
                "gap": write_estimate(getattr(gaps, field), points),
            }
            for field, name in SHARES.items()
        ),
        {
            "name": _("Seconds per step"),
            "hinted": write_estimate(hinted.pace, seconds, value="seconds"),
            "blind": write_estimate(blind.pace, seconds, value="seconds"),
            "gap": write_estimate(gaps.pace, lambda value: f"× {ratio(value)}"),
        },
    ]


def _weeks(comparison: HintComparison) -> Chart:
    """People's accuracy on gold by week, without and with hints."""
    arms = (("blind", gettext("without hints"), "first"), ("hinted", gettext("with hints"), "second"))
    series = [
        Series(
            name,
            look,
            [
                Point(day_of_month(week.start), share.value, share.low, share.high, note=_of(share))
                for week in comparison.weeks
                for share in (getattr(week, arm),)
            ],
        )
        for arm, name, look in arms
    ]
    return line_chart(
        gettext("Accuracy by week"),
        series,
        help=gettext("Share of right labels on solutions with a known first error, by the Monday of each week."),
        term="blind_arm",
        places=gettext("week from"),
        no_values=gettext("This needs labels on gold."),
        form=percent,
        top=1.0,
    )


def _of(share: Any) -> str:
    return gettext("of %(n)s labels") % {"n": count(share.of)} if share.of else ""


def _share(share: Any) -> SafeString:
    if share.value is None:
        return conditional_escape(NOTHING)
    counts = count(share.count), count(share.of)
    return format_html('{} <span class="muted small">{}/{}</span>', write_estimate(share, percent), *counts)


def _verdict(comparison: HintComparison) -> str:
    """A sentence that says whether people rely on the model."""
    misled, agrees = comparison.gaps.misled, comparison.gaps.agrees
    if misled is not None and misled.low > 0:
        return gettext("People repeat the model’s errors more often when they see its scores.")
    if agrees is None:
        return gettext("Not enough data: this needs labels from both arms.")
    if agrees.low > 0:
        return gettext("People name the model’s first error more often when they see its scores.")
    if agrees.high < 0:
        return gettext("People name the model’s first error less often when they see its scores.")
    return gettext("So far, the difference may be chance.")
