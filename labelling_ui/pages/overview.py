"""The project page: progress, quality, cost, and tasks that need a person."""

from datetime import date
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _

from annotation.files.answer_checks import outcomes_of
from annotation.labels.labour.statistics import median_seconds
from annotation.models import LabelBatch, Membership, ModelVersion, Project
from labelling_ui.cached_figures import CachedFigures
from labelling_ui.charts import Chart, Point, Series, bar_chart, line_chart, share_chart
from labelling_ui.numbers import day_of_month, decimal
from labelling_ui.pages.access import ANYONE, project_page
from labelling_ui.pages.agreement import Sheet
from labelling_ui.pages.quality import names_of, show_batches
from labelling_ui.pages.runs import retraining
from labelling_ui.selectors import attention, progress
from labelling_ui.templatetags.figures import percent

DAYS = 30
POSITIONS = 20
ALARMS = 3


@project_page(*ANYONE)
def overview(request: HttpRequest, member: Membership) -> HttpResponse:
    project = member.project
    if member.role == Membership.Role.ANNOTATOR:
        return redirect("my-work", project.slug)
    cached = CachedFigures(request, project)
    versions = list(project.model_versions.order_by("number").defer("manifest"))
    figures = cached("overview", partial(_figures, project))
    by_day, agreement_by_week, ratings, *compared = figures.pop("charts")
    outcomes = cached("outcomes", partial(outcomes_of, project))
    context = figures | {
        "champion": _champion(versions),
        "concerns": cached(f"concerns of a {member.role}", partial(attention.concerns, member)),
        "alarms": _alarms(project),
        **retraining(project, cached),
        "solutions": outcomes.total,
        "empty": not outcomes.total and not versions,
        "outcomes": outcomes,
        "charts": [by_day, _quality_chart(project, versions), agreement_by_week, ratings, *compared],
    }
    return render(request, "labelling_ui/overview.html", context)


def _figures(project: Project) -> dict[str, Any]:
    """The part of the context that reads all labels."""
    by_day = progress.labels_by_day(project, days=DAYS)
    agreement = Sheet(project, {})
    charts = [_progress_chart(project, by_day), agreement.weeks(), _ratings_chart(project), _yield_chart(project)]
    return {
        "progress": progress.progress_of(project, by_day),
        "agreement": agreement.figure("exact"),
        "median_seconds": median_seconds(project),
        "charts": [chart for chart in charts if chart],
    }


def _alarms(project: Project) -> list[LabelBatch]:
    """The latest open alarms about annotators."""
    suspected = project.label_batches.filter(state=LabelBatch.State.SUSPECTED, annotator__isnull=False)
    alarms = list(suspected.select_related("annotator__user")[:ALARMS])
    if alarms:
        show_batches(alarms, names_of(project, {one.pk: one for one in project.memberships.select_related("user")}))
    return alarms


def _champion(versions: list[ModelVersion]) -> dict[str, Any] | None:
    """The champion, its F1, and the change from the previous champion."""
    champion = next((version for version in versions if version.state == ModelVersion.State.CHAMPION), None)
    if champion is None:
        return None
    before = sorted(
        (version.promoted_at, f1.value)
        for version in versions
        if version.promoted_at and version.number < champion.number and (f1 := version.metrics.f1)
    )
    f1 = champion.metrics.f1
    change = f1.value - before[-1][1] if f1 and before else None
    return {"version": champion, "score": f1, "change": change}


def _progress_chart(project: Project, by_day: list[tuple[date, int]]) -> Chart:
    address = reverse("labels", args=[project.slug])
    points = [
        Point(day_of_month(day), n, href=f"{address}?since={day}&until={day}&by=members" if n else "", note=_("labels"))
        for day, n in by_day
    ]
    return bar_chart(
        _("Labels by day"),
        Series(_("labels"), "first", points),
        help=_("The labels that members submitted each day. Labels from files and estimates are not counted."),
        term="label",
        places=_("day"),
        no_values=_("Labels appear here."),
    )


def _quality_chart(project: Project, versions: list[ModelVersion]) -> Chart:
    trained = [
        Point(
            _("model %(n)s") % {"n": version.number},
            f1.value,
            f1.low,
            f1.high,
            href=reverse("model", args=[project.slug, version.number]),
        )
        for version in versions
        if (f1 := version.metrics.f1)
    ]
    baselines = [
        Point(_("model %(n)s") % {"n": version.number}, f1.value)
        for version in versions
        if (f1 := version.metrics.baseline_f1)
    ]
    return line_chart(
        _("Model quality on the holdout, F1"),
        [Series(_("trained"), "first", trained), Series(_("zero-label baseline"), "second", baselines)],
        help=_("F1 of each model with its confidence interval; the baseline is the same backbone without labels."),
        term="holdout",
        places=_("model"),
        no_values=_("The first model appears here after you retrain."),
        form=lambda share: decimal(100 * share),
        top=1.0,
    )


def _ratings_chart(project: Project) -> Chart:
    counts = {(position, look): n for position, look, n in progress.ratings_by_position(project, positions=POSITIONS)}
    positions = sorted({position for position, _look in counts})
    looks = [("good", _("good")), ("neutral", _("neutral")), ("unsure", _("unsure")), ("bad", _("bad"))]
    series = [
        Series(name, look, [Point(str(position + 1), counts.get((position, look), 0)) for position in positions])
        for look, name in looks
    ]
    return share_chart(
        _("Ratings by position"),
        series,
        help=_("The share of each rating at each step; a rising share of bad shows where solutions go wrong."),
        term="rating",
        places=_("step"),
        no_values=_("Ratings appear here."),
    )


def _yield_chart(project: Project) -> Chart | None:
    """How often labels of the acquisition and control lanes found an error; None until both have labels."""
    rows = progress.yield_by_generation(project)
    if len({lane for _number, lane, _found, _n in rows}) < 2:
        return None
    series = [
        Series(
            name,
            look,
            [
                Point(_("gen. %(n)s") % {"n": number}, errors / n, note=_("of %(n)s labels") % {"n": n})
                for number, of, errors, n in rows
                if of == lane
            ],
        )
        for lane, name, look in [("acquisition", _("acquisition"), "first"), ("control", _("control"), "second")]
    ]
    return line_chart(
        _("Labels that found an error, by lane"),
        series,
        help=_("Whether the acquisition lane has more solutions with errors than the random control lane."),
        term="lane",
        places=_("generation"),
        form=percent,
        top=1.0,
    )
