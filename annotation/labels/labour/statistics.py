"""Statistics of a project's work, from the latest revision of each annotation."""

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Count, FloatField, IntegerField, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.aggregates import Aggregate
from django.db.models.expressions import RawSQL
from django.utils import timezone

from annotation.models import Generation, Membership, Project, QueueItem, ScreeningDecision
from annotation.work.annotations import current_annotations, latest_annotations


class Median(Aggregate):
    """The continuous median of a number."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = FloatField()


def my_progress(*, by: User, project: Project) -> dict[str, Any]:
    """`{today, total, median_seconds}` of one person; `today` is the project's day."""
    midnight = project.policies.rounds.start_of_day(timezone.now())
    figures = (
        latest_annotations(project)
        .filter(annotator__user=by)
        .aggregate(
            today=Count("pk", filter=Q(submitted_at__gte=midnight)), total=Count("pk"), median=Median("total_ms")
        )
    )
    median = figures.pop("median")
    return figures | {"median_seconds": None if median is None else median / 1000}


LabelFigures = dict[int, tuple[int, float | None]]


def label_figures(project: Project) -> LabelFigures:
    """The number of labels of each member who has any, and their median time in milliseconds, by membership id."""
    labels = current_annotations(project).filter(annotator__isnull=False).order_by()
    rows = labels.values_list("annotator").annotate(n=Count("pk"), median=Median("total_ms"))
    return {pk: (n, median) for pk, n, median in rows}


def members_with_figures(project: Project, figures: LabelFigures | None = None) -> QuerySet[Membership]:
    """The members with their latest screening `decision`, number of `labels` and `median_ms`; null for none.

    `figures` are those of `label_figures`, read now by default.
    """
    known = label_figures(project) if figures is None else figures
    decisions = ScreeningDecision.objects.filter(membership=OuterRef("pk")).order_by("-pk")
    members, labels, medians = list(known), [n for n, _ in known.values()], [median for _, median in known.values()]
    return project.memberships.select_related("user").annotate(
        decision=Subquery(decisions.values("outcome")[:1]),
        labels=RawSQL(_FIGURE.format("int"), [members, labels], output_field=IntegerField()),
        median_ms=RawSQL(_FIGURE.format("float8"), [members, medians], output_field=FloatField()),
    )


# Two arrays: a condition for each member would be an expression that Django compiles for each query.
_FIGURE = """
SELECT known.figure FROM unnest(%s::bigint[], %s::{}[]) AS known (member, figure)
WHERE known.member = annotation_membership.id
"""


def lanes_of_open_generation(project: Project) -> list[Mapping[str, Any]]:
    """`{lane, items, wanted, done}` of each lane of the open generation, sorted by name."""
    return list(
        QueueItem.objects.filter(project=project, generation__state=Generation.State.OPEN)
        .values("lane")
        .annotate(items=Count("pk"), wanted=Sum("wanted"), done=Sum("done"))
        .order_by("lane")
    )


def labels_of(project: Project) -> dict[str, Any]:
    """`{total, first_errors, median_seconds}` of all labels by the project's annotators."""
    figures = latest_annotations(project).aggregate(
        total=Count("pk"), first_errors=Count("pk", filter=Q(first_error__gte=0))
    )
    return figures | {"median_seconds": median_seconds(project)}


def median_seconds(project: Project) -> float | None:
    """The median time of people's labels, or of simulated annotators' if people have none; None without times."""
    for kind in ("human", "simulated"):
        labels = latest_annotations(project).filter(source__kind=kind)
        median = labels.aggregate(median=Median("total_ms"))["median"]
        if median is not None:
            return float(median) / 1000
    return None
