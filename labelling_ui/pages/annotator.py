"""The analysis of one person: alarms, weeks, biases, rejected valid solutions, patterns and likeness to others."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.html import format_html
from django.utils.http import urlencode
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.annotators.analysis import Analysis, who_is
from annotation.labels.annotators.biases import Bias
from annotation.labels.annotators.valid_solutions import Rejections
from annotation.labels.annotators.weeks import Week
from annotation.models import Membership
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, line_chart
from labelling_ui.numbers import day_of_month, decimal, signed
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.annotators import NOTES, rows_of
from labelling_ui.pages.columns import Choice, Column, Estimate, Number, Share, write_estimate
from labelling_ui.pages.listing import Table
from labelling_ui.pages.quality import names_of, show_batches
from labelling_ui.templatetags.figures import NOTHING, count, duration, percent

FEATURES = {"long": _("Long solutions"), "formulas": _("Many formulas"), "wordy": _("Many words per step")}
PATTERNS = [
    ("none", _("No error")),
    ("same", _("The same step as in the label before")),
    ("turns", _("The answer of the label before last")),
]


@dataclass(frozen=True)
class Linked:
    """A row of figures with the address of the labels behind it; `rest` is that of the labels compared with."""

    figures: Any
    href: str
    rest: str = ""


def _opens(label: str, href: str) -> SafeString:
    return format_html('<a href="{}">{}</a>', href, label)


def _bias_value(row: Linked) -> SafeString:
    bias: Bias = row.figures
    unit = _steps if bias.measure == "position" else _points
    return write_estimate(bias, unit)


def _steps(value: float) -> str:
    return gettext("%(n)s steps") % {"n": signed(value, 2)}


def _points(value: float) -> str:
    return gettext("%(n)s points") % {"n": signed(100 * value, 1)}


def _feature(row: Linked) -> str:
    bias: Bias = row.figures
    if bias.measure == "position":
        return gettext("Position of the first error")
    if bias.measure == "hint":
        return gettext("Model’s scores shown")
    kind, _colon, generator = bias.feature.partition(":")
    return str(FEATURES.get(kind, generator))


def _meaning(row: Linked) -> str:
    return {
        "position": gettext("later than the reference"),
        "hint": gettext("more agreement with the model than without its scores"),
        "calls": gettext("more solutions with an error than elsewhere, beyond the reference"),
    }[row.figures.measure]


WEEKS = [
    Column("week", _("Week"), lambda row: row.figures.since, write=day_of_month, heading=True),
    Number("labels", _("Labels"), "figures__labels", shown=lambda row: _opens(count(row.figures.labels), row.href)),
    Estimate(
        "right",
        _("Right"),
        "figures__right",
        write=percent,
        help=_("The share of labels that name the same first error as gold, an adjudication or most other people."),
    ),
    Number(
        "compared",
        _("Compared"),
        "figures__right__of",
        shown=lambda row: _opens(count(row.figures.right.of), row.rest),
        help=_("The labels that have a reference."),
    ),
    Estimate(
        "errors",
        _("With an error"),
        "figures__errors",
        write=percent,
        help=_("The share of labels that report an error."),
    ),
    Estimate(
        "others",
        _("Others’ with an error"),
        "figures__others_errors",
        write=percent,
        help=_("The share of other people’s labels in the same week that report an error."),
    ),
    Estimate(
        "seconds",
        _("Time per step"),
        lambda row: {"value": row.figures.pace.seconds, "low": row.figures.pace.low, "high": row.figures.pace.high},
        write=duration,
        help=_("The geometric mean of the active time per rated step."),
    ),
]
BIASES = [
    Column("feature", _("Feature"), _feature, heading=True),
    Number(
        "value",
        _("Difference"),
        "figures__value",
        shown=_bias_value,
        help=_("The difference with its interval, which allows for the number of people and features."),
    ),
    Column("meaning", _("Above 0 means"), _meaning),
    Number(
        "with_feature",
        _("Labels"),
        "figures__with_feature",
        shown=lambda row: _opens(count(row.figures.with_feature), row.href),
    ),
    Number(
        "without",
        _("Compared with"),
        "figures__without",
        shown=lambda row: _opens(count(row.figures.without), row.rest) if row.rest else NOTHING,
        help=_("The labels without the feature."),
    ),
    Column("clear", _("Clear"), lambda row: gettext("yes") if row.figures.clear else gettext("no")),
]
REJECTIONS = [
    Column("kind", _("Solutions"), "figures__kind", heading=True),
    Number(
        "labels",
        _("Labels"),
        "figures__share__of",
        shown=lambda row: _opens(count(row.figures["share"].of), row.href),
    ),
    Estimate(
        "rejected",
        _("Rejected"),
        "figures__share",
        write=percent,
        help=_("The share of labels that report an error, although the answer is right and the reference has none."),
    ),
]
PATTERN_COLUMNS = [
    Choice("pattern", _("Answer"), choices=PATTERNS, heading=True),
    Number("of", _("Labels"), help=_("The labels for which the pattern and the reference differ.")),
    Number("count", _("As the pattern says"), help=_("Labels that give the answer of the pattern.")),
    Number(
        "usual",
        _("By others"),
        write=partial(decimal, digits=1),
        help=_("How many would give this answer if other people had labelled."),
    ),
]
LIKENESS = [
    Column("original", _("Earlier labels by"), "figures__original", heading=True),
    Number("shared", _("Solutions"), "figures__shared", help=_("The solutions that this person labelled after them.")),
    Number("same", _("Same first error"), "figures__same"),
    Number(
        "mistakes",
        _("Their mistakes"),
        "figures__mistakes",
        help=_("Their labels that an adjudication, or at least two others, contradict."),
    ),
    Number(
        "same_mistakes",
        _("Repeated"),
        "figures__same_mistakes",
        help=_("Those mistakes that this person repeats."),
    ),
    Share("usual", _("Usually repeated"), "figures__usual", help=_("How often other pairs of people share a mistake.")),
    Number("comments", _("Equal comments"), "figures__comments", help=_("Long comments that are equal word for word.")),
]


@project_page(*STAFF)
def annotator(request: HttpRequest, member: Membership, member_id: int) -> HttpResponse:
    """One annotator."""
    project = member.project
    person = get_object_or_404(project.memberships.select_related("user", "project"), pk=member_id)
    figures, weeks, biases, rejections, patterns, likenesses = CachedFigures(request, project)(
        f"annotator {person.pk}", lambda: _analyse(Analysis(project), person)
    )
    members = {one.pk: one for one in project.memberships.select_related("user")}
    names = names_of(project, members)
    alarms = list(project.label_batches.filter(annotator=person).select_related("annotator__user", "decided_by"))
    show_batches(alarms, names)
    context = {
        "person": person,
        "alarms": alarms,
        "figures": figures,
        "notes": dict(NOTES),
        "currency": project.policies.costs.currency,
        "screening": project.policies.screening,
        "charts": _charts(person, weeks),
        "weeks": Table([_week(person, week) for week in reversed(weeks)], WEEKS),
        "biases": Table([_bias(person, bias) for bias in biases], BIASES),
        "rejections": Table(_rejected(person, rejections), REJECTIONS),
        "patterns": Table(patterns, PATTERN_COLUMNS),
        "likenesses": Table([Linked(replace(one, original=names[one.original]), "") for one in likenesses], LIKENESS),
    }
    return render(request, "labelling_ui/annotator.html", context)


def _analyse(analysis: Analysis, person: Membership) -> tuple[Any, ...]:
    """A person's row, weeks, biases, rejections, patterns, and likenesses to others."""
    who = who_is(person)
    return (
        next((row for row in rows_of(analysis) if row.who.pk == person.pk), None),
        analysis.weeks(who),
        [bias for bias in analysis.biases if bias.who == who],
        analysis.rejections.get(who),
        [one for one in analysis.patterns.get(who, []) if one.of],
        [one for one in analysis.likenesses if one.who == who],
    )


def _labels(person: Membership, **query: Any) -> str:
    """The address of the person's labels behind a figure."""
    asked = urlencode({"annotator": person.pseudonym} | query)
    return f"{reverse('labels', args=[person.project.slug])}?{asked}"


def _charts(person: Membership, weeks: list[Week]) -> list[Chart]:
    rows = [_week(person, week) for week in weeks]

    def point(row: Linked, figure: Any, href: str = "") -> Point:
        return Point(day_of_month(row.figures.since), figure.value, figure.low, figure.high, href=href)

    def pace(row: Linked) -> Point:
        figure = row.figures.pace
        return Point(day_of_month(row.figures.since), figure.seconds, figure.low, figure.high, href=row.href)

    right = [point(row, row.figures.right, row.rest) for row in rows]
    own = [point(row, row.figures.errors, row.href) for row in rows]
    others = [point(row, row.figures.others_errors) for row in rows]
    paces = [pace(row) for row in rows]
    week, none = gettext("week of"), gettext("No labels in use.")
    return [
        line_chart(
            gettext("Right, by week"),
            [Series(gettext("right"), "first", right)],
            help=gettext("The share of compared labels that name the reference’s first error."),
            places=week,
            no_values=none,
            form=percent,
            top=1.0,
        ),
        line_chart(
            gettext("Labels with an error, by week"),
            [Series(person.shown_name, "first", own), Series(gettext("other people"), "second", others)],
            help=gettext("The share of labels that report an error, beside other people’s in the same week."),
            places=week,
            no_values=none,
            form=percent,
            top=1.0,
        ),
        line_chart(
            gettext("Time per step, by week"),
            [Series(gettext("time per step"), "first", paces)],
            help=gettext("The geometric mean of the active time per rated step."),
            places=week,
            no_values=none,
            form=duration,
        ),
    ]


def _week(person: Membership, week: Week) -> Linked:
    days = {"since": week.since, "until": week.until}
    return Linked(week, _labels(person, **days), _labels(person, figure="compared", **days))


def _bias(person: Membership, bias: Bias) -> Linked:
    kind, _colon, generator = bias.feature.partition(":")
    if bias.measure == "position":
        return Linked(bias, _labels(person, figure="compared"))
    if bias.measure == "hint":
        return Linked(bias, _labels(person, hint="shown"), _labels(person, hint="blind"))
    if generator:
        return Linked(bias, _labels(person, figure="compared", generator=generator), _labels(person, figure="compared"))
    return Linked(bias, _labels(person, figure=kind), _labels(person, figure=f"not_{kind}"))


def _rejected(person: Membership, rejections: Rejections | None) -> list[Linked]:
    if rejections is None:
        return []
    kinds = [
        ("unconventional", gettext("valid and unconventional"), rejections.unconventional),
        ("conventional", gettext("other valid ones"), rejections.others),
    ]
    return [
        Linked({"kind": words, "share": share}, _labels(person, figure=figure))
        for figure, words, share in kinds
        if share.of
    ]
