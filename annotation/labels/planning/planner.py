"""Plans more labels of a project from its latest labels, the reliability of its people, and its models."""

from collections.abc import Iterable
from datetime import date, datetime, timedelta
from typing import Annotated

import msgspec
from django.db.models import Case, Count, F, FloatField, Q, Sum, Value, When
from django.db.models.functions import Coalesce, TruncDate
from django.utils import timezone

from annotation.core.bounds import about
from annotation.labels.consensus.fits import latest_fit
from annotation.labels.planning.bands import Band
from annotation.labels.planning.curve import Curve, ModelForecast, Trained, fit_curve
from annotation.labels.planning.opinions import Known, LabelQuality, Rater, quality_by_opinions
from annotation.labels.planning.workload import Day, Goal, Workload, forecast
from annotation.models import HIDDEN_LANES, ModelVersion, Project
from annotation.models.consensus_fit import FitReport
from annotation.work.annotations import first_annotations
from prm.consensus import Measured
from prm.vocabulary import RATINGS

PERIOD = timedelta(days=56)  # older labels say little about the next ones
STANDARD_ERRORS = 2 * 1.96  # in a 95 % interval


class Reach(msgspec.Struct, frozen=True):
    """How many more labels bring a model of the wanted `f1`; `labels` is None if the curve does not reach it."""

    f1: Annotated[float, about("The wanted F1 on the holdout.")]
    labels: Annotated[Band | None, about("How many more labels; null if the curve does not reach it.")]


class LastDay(msgspec.Struct, frozen=True):
    """The expected last day, with the bounds of its 80 % band."""

    value: Annotated[date, about("The expectation.")]
    low: Annotated[date, about("The early end of the 80 % band.")]
    high: Annotated[date, about("The late end of the 80 % band.")]


class Plan(msgspec.Struct, frozen=True):
    """A plan of more labels."""

    today: Annotated[date, about("The project's day on which the labels begin.")]
    currency: Annotated[str, about("The currency of costs, a code of ISO 4217.")]
    workload: Annotated[Workload | None, about("Time and cost; null after too few days with labels.")]
    end: Annotated[LastDay | None, about("The last day; null after too few days with labels.")]
    quality: Annotated[
        list[LabelQuality],
        about("The quality of labels by the number of opinions; empty without a consensus fit of known steps."),
    ]
    model: Annotated[
        ModelForecast | None, about("The model after these labels; null unless three measured models differ in labels.")
    ]
    reach: Annotated[Reach | None, about("The labels for `wanted_f1`; null if it was not asked or cannot be said.")]
    trained: Annotated[list[Trained], about("The measured models, by labels.")]


def plan_labels(
    project: Project,
    *,
    goal: Goal,
    amount: float,
    hours_a_week: float | None = None,
    wanted_f1: float | None = None,
    now: datetime | None = None,
) -> Plan:
    """What labelling goes on to bring, up to an `amount` of labels, of money or of days.

    With `hours_a_week`, people work that long from now on; without it, as in the last weeks.
    """
    today = project.policies.rounds.start_of_day(now or timezone.now())
    past = past_days(project, today)
    workload = forecast(past, goal=goal, amount=amount, first_weekday=today.weekday(), hours_a_week=hours_a_week)
    trained = trained_models(project)
    curve = fit_curve(trained)
    fit = latest_fit(project)
    labels = amount if goal == "labels" else workload.labels.value if workload else 0
    return Plan(
        today=today.date(),
        currency=project.policies.costs.currency,
        workload=workload,
        end=_end(workload, today.date()),
        quality=quality_of(fit.report) if fit and fit.report else [],
        model=curve.after(trained[-1].labels + round(labels)) if curve and labels else None,
        reach=_reach(curve, trained, wanted_f1) if curve and wanted_f1 else None,
        trained=trained,
    )


def past_days(project: Project, today: datetime) -> list[Day]:
    """The days of the last PERIOD before `today`, from the first one with a label on.

    Labels are first submissions by members, without hidden gold and screening; those cost time and money all the same.
    """
    recent = first_annotations(project).filter(submitted_at__gte=today - PERIOD, submitted_at__lt=today)
    hour = project.policies.costs.hour or 0.0
    paid = Case(
        When(annotator__kind="machine", then=Coalesce(F("annotator__machine__cost_per_label"), 0.0)),
        default=Coalesce(F("total_ms"), 0) * Value(hour / 3_600_000),
        output_field=FloatField(),
    )
    rows = (
        recent.annotate(day=TruncDate("submitted_at", tzinfo=today.tzinfo))
        .values("day")
        .order_by("day")
        .annotate(n=Count("pk", filter=~Q(lane__in=HIDDEN_LANES)), ms=Sum("total_ms"), paid=Sum(paid))
    )
    worked = {row["day"]: row for row in rows}
    if not worked:
        return []
    dates = [min(worked) + timedelta(days=n) for n in range((today.date() - min(worked)).days)]
    return [
        Day(day.weekday(), row["n"], (row["ms"] or 0) / 1000, row["paid"] or 0.0)
        if (row := worked.get(day))
        else Day(day.weekday(), 0, 0.0, 0.0)
        for day in dates
    ]


def trained_models(project: Project) -> list[Trained]:
    """The models that rounds trained and measured, by the labels that they learned from."""
    versions = project.model_versions.filter(origin=ModelVersion.Origin.TRAINED, snapshot__isnull=False)
    trained = [
        Trained(version.snapshot.counts.get("annotations", 0), version.metrics.f1.value)
        for version in versions.select_related("snapshot")
        if version.snapshot and version.metrics.f1
    ]
    return sorted(model for model in trained if model.labels)


def quality_of(report: FitReport) -> list[LabelQuality]:
    """The label quality by the latest consensus fit; empty without steps whose rating is known."""
    if report.gold is None or "" not in report.shares:
        return []
    raters = [
        Rater(figures.labels, _estimate(figures.finds), _estimate(figures.invents))
        for figures in (annotator.reliability for annotator in report.annotators)
        if figures.labels and figures.finds and figures.invents
    ]
    known = Known(_estimate(report.gold.accuracy), report.gold.opinions)
    return quality_by_opinions(raters, report.shares[""][RATINGS.index(-1)], known)


def _estimate(measured: Measured) -> tuple[float, float]:
    return measured.value, (measured.high - measured.low) / STANDARD_ERRORS


def _end(workload: Workload | None, today: date) -> LastDay | None:
    if workload is None:
        return None
    days: Iterable[float] = (workload.days.value, workload.days.low, workload.days.high)
    return LastDay(*(today + timedelta(days=int(n)) for n in days))


def _reach(curve: Curve, trained: list[Trained], f1: float) -> Reach:
    needed = curve.labels_for(f1)
    now = trained[-1].labels
    more = needed and Band(*(max(n - now, 0.0) for n in (needed.value, needed.low, needed.high)))
    return Reach(f1, more)
