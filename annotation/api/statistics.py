"""Statistics of a project's work: labels, agreement of sources, effects of hints."""

from datetime import datetime
from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count, Id
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.anchoring import Arm, Gaps, WeekOfHints
from annotation.labels.quality.contrast import contrasts
from annotation.labels.quality.hint_effects import compare_hints
from annotation.labels.quality.statistics import labels_of, lanes_of_open_generation
from annotation.models import Hint, Lane
from annotation.work.gold.gold_accuracy import Share
from prm.vocabulary import SourceKind


class LaneFigures(msgspec.Struct):
    lane: Lane
    items: Count
    wanted: Annotated[Count, Meta(description="Annotations wanted.")]
    done: Annotated[Count, Meta(description="Annotations submitted.")]


class LabelFigures(msgspec.Struct):
    total: Count
    first_errors: Annotated[Count, Meta(description="Annotations that found an error.")]
    median_seconds: Annotated[float | None, Meta(description="Median time of one annotation.")]


class Statistics(msgspec.Struct):
    labels: LabelFigures
    lanes: list[LaneFigures]


class ProjectStatistics(APIView):
    """Progress of the project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_statistics", responses=Statistics)
    def get(self, request: Request, slug: str) -> Response:
        """Labels so far, and the open generation by lane. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            Statistics(
                labels=LabelFigures(**labels_of(project)),
                lanes=[LaneFigures(**row) for row in lanes_of_open_generation(project)],
            )
        )


class SourceRow(Row):
    id: Id
    kind: SourceKind
    name: str
    detail: dict[str, Any]


class ContrastOfSources(Row):
    """Pairs of labels by two sources on one solution: how many agree on the first error, and which source finds one."""

    one: SourceRow
    other: SourceRow
    pairs: Count
    exact: Annotated[Count, Meta(description="Pairs with the same first error, or both with none.")]
    within_one: Annotated[Count, Meta(description="Pairs with the same or a neighbouring first error.")]
    both: Annotated[Count, Meta(description="Pairs in which both find an error.")]
    neither: Count
    only_one: Count
    only_other: Count


class Contrasts(APIView):
    """Agreement between label sources."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_contrasts", responses=list[ContrastOfSources])
    def get(self, request: Request, slug: str) -> Response:
        """Every two sources that labelled a common solution. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            [
                ContrastOfSources.of(contrast, one=SourceRow.of(one), other=SourceRow.of(other))
                for one, other, contrast in contrasts(project)
            ]
        )


class HintComparison(Row):
    """First submissions with and without a hint, for one way of drawing hints."""

    share: Annotated[float, Meta(description="Share of solutions drawn for a hint.")]
    reveal: Hint.Reveal
    since: datetime
    until: datetime
    hinted: Arm
    blind: Arm
    gaps: Gaps
    opened: Annotated[Share, Meta(description="Labels in the hint arm whose annotator saw a score.")]
    changed: Annotated[Share, Meta(description="Ratings made before the score was seen and changed after it.")]
    weeks: Annotated[list[WeekOfHints], Meta(description="Accuracy on gold with and without hints, by week.")]


class HintComparisons(APIView):
    """The effect of hints on labels."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="compare_hints", responses=list[HintComparison])
    def get(self, request: Request, slug: str) -> Response:
        """The two arms of each hint policy, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response([HintComparison.of(one, **one.design._asdict()) for one in compare_hints(project)])
