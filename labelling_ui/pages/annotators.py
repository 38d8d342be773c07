"""The analysis of all annotators: speed beside accuracy, costs and alarms."""

from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotation.labels.annotators.analysis import Analysis, who_is
from annotation.labels.annotators.guessing import NO_SPEED, Speed
from annotation.labels.annotators.label_costs import LabelCost, costs_by_member
from annotation.models import LabelBatch, Membership
from annotation.work.gold.gold_accuracy import share_of
from annotation.work.gold.gold_answers import accuracy_by_person
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Place, scatter_chart
from labelling_ui.pages.access import STAFF, project_page
from labelling_ui.pages.columns import Choice, Duration, Estimate, Number, Share
from labelling_ui.pages.listing import Table
from labelling_ui.pages.people import PERSON
from labelling_ui.templatetags.figures import duration, money, percent

NOTES = [
    ("fast_right", _("fast and right")),
    ("fast_worse", _("fast, and right less often than others")),
    ("fast_guessing", _("fast, and no better than guessing")),
    ("fast_unknown", _("fast; too few labels to say how accurate")),
]
LOOKS = {"fast_right": "good", "fast_worse": "second", "fast_guessing": "bad", "fast_unknown": "unsure", "": "first"}


@dataclass(frozen=True)
class Row:
    """The figures of one person."""

    who: Membership
    speed: Speed
    accepted: Any
    gold: Any
    cost: LabelCost
    alarm: LabelBatch | None


COLUMNS = [
    PERSON,
    Number("labels", _("Labels"), "cost__labels"),
    Duration(
        "step_seconds",
        _("Median time per step"),
        lambda row: row.speed.step_ms and row.speed.step_ms / 1000,
        help=_("The median, over the latest labels, of the active time on a label per step that it rates."),
    ),
    Estimate(
        "right",
        _("Right"),
        "speed__right",
        write=percent,
        help=_("The share of labels that name the same first error as gold, an adjudication or most other people."),
    ),
    Share(
        "guess",
        _("Right by guessing"),
        "speed__guess",
        help=_("The share that would be right if this person’s answers were given to each other’s solutions."),
    ),
    Estimate(
        "gold",
        _("Right on gold"),
        "gold__right",
        write=percent,
        term="gold",
        help=_("The share of gold answers within the project’s tolerance of the known first error."),
    ),
    Share(
        "accepted",
        _("Accepted together"),
        "accepted__value",
        help=_("The share of ratings that one key set together with others."),
    ),
    Number(
        "cost",
        _("Cost per accepted label"),
        "cost__each",
        write=money,
        help=_("The cost of all labels, divided by those that are neither set aside nor overruled by an adjudication."),
    ),
    Choice("note", _("Note"), "speed__note", choices=NOTES),
    Choice("alarm", _("Alarm"), "alarm__judge", choices=LabelBatch.Judge.choices),
]


@project_page(*STAFF)
def annotators(request: HttpRequest, member: Membership) -> HttpResponse:
    """All annotators."""
    project = member.project
    rows = CachedFigures(request, project)("annotators", lambda: rows_of(Analysis(project)))
    context = {
        "scatter": _scatter(rows),
        "people": Table(rows, COLUMNS),
        "currency": project.policies.costs.currency,
        "hour": project.policies.costs.hour,
        "between": project.policies.quality.labels_between_false_alarms,
    }
    return render(request, "labelling_ui/annotators.html", context)


def rows_of(analysis: Analysis) -> list[Row]:
    """The people with labels, those with an alarm first, then the least accurate."""
    project = analysis.project
    golds, costs = accuracy_by_person(project), costs_by_member(project)
    suspected = project.label_batches.filter(state=LabelBatch.State.SUSPECTED, annotator__isnull=False)
    alarms = {batch.annotator_id: batch for batch in suspected}
    rows = [
        Row(
            one,
            analysis.speeds.get(who_is(one), NO_SPEED),
            analysis.accepted.get(who_is(one), share_of(0, 0)),
            golds.get(one.pk),
            costs[one.pk],
            alarms.get(one.pk),
        )
        for one in project.memberships.select_related("user").filter(pk__in=costs)
    ]
    accuracy = {row.who.pk: 1.0 if row.speed.right.value is None else row.speed.right.value for row in rows}
    return sorted(rows, key=lambda row: (row.alarm is None, accuracy[row.who.pk], row.who.shown_name))


def _scatter(rows: list[Row]) -> Chart:
    places = [
        Place(
            row.who.shown_name,
            row.speed.step_ms / 1000,
            row.speed.right.value,
            row.speed.right.low,
            row.speed.right.high,
            look=LOOKS[row.speed.note],
            href=reverse("annotator", args=[row.who.project.slug, row.who.pk]),
        )
        for row in rows
        if row.speed.step_ms is not None and row.speed.right.value is not None
    ]
    return scatter_chart(
        gettext("Speed and accuracy"),
        places,
        help=gettext("Each dot is a person: the median seconds per step, and the share of labels that are right."),
        legend=[("first", gettext("usual pace")), *((LOOKS[note], str(words)) for note, words in NOTES)],
        header=[gettext("Labels by"), gettext("Time per step"), gettext("Right")],
        no_values=gettext("This needs 12 timed labels of a person, and labels by others on the same solutions."),
        across=duration,
        form=percent,
        top=1.0,
    )
