"""Figures of a project's work: labels, agreement, sources against each other, effects of hints."""

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
from annotation.labels.quality.agreement import Agreement, first_error_agreement
from annotation.labels.quality.anchoring import Arm, Gaps
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
    done: Annotated[Count, Meta(description="Annotations given.")]


class LabelFigures(msgspec.Struct):
    total: Count
    first_errors: Annotated[Count, Meta(description="Annotations that found an error.")]
    median_seconds: Annotated[float | None, Meta(description="What one annotation costs.")]


class Statistics(msgspec.Struct):
    labels: LabelFigures
    lanes: list[LaneFigures]
    agreement: Agreement


class ProjectStatistics(APIView):
    """How the work goes."""

    @extend_schema(operation_id="get_statistics", responses=Statistics)
    def get(self, request: Request, slug: str) -> Response:
        """Labels so far, the open generation by lane, and agreement; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            Statistics(
                labels=LabelFigures(**labels_of(project)),
                lanes=[LaneFigures(**row) for row in lanes_of_open_generation(project)],
                agreement=first_error_agreement(project),
            )
        )


class SourceRow(Row):
    id: Id
    kind: SourceKind
    name: str
    detail: dict[str, Any]


class ContrastOfSources(Row):
    """Pairs of labels by two sources on one solution: how many of them name the same first error, and who finds one."""

    one: SourceRow
    other: SourceRow
    pairs: Count
    exact: Annotated[Count, Meta(description="Pairs with the same first error, or both with none.")]
    within_one: Annotated[Count, Meta(description="The same or a neighbouring one.")]
    both: Annotated[Count, Meta(description="Both find an error.")]
    neither: Count
    only_one: Count
    only_other: Count


class Contrasts(APIView):
    """How sources of labels agree."""

    @extend_schema(operation_id="list_contrasts", responses=list[ContrastOfSources])
    def get(self, request: Request, slug: str) -> Response:
        """Every two sources that labelled a solution in common; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return Response(
            [
                ContrastOfSources.of(contrast, one=SourceRow.of(one), other=SourceRow.of(other))
                for one, other, contrast in contrasts(project)
            ]
        )


class HintComparison(Row):
    """Labels with a hint and without one, of people's first submissions, where hints were drawn in one way."""

    share: Annotated[float, Meta(description="Of solutions with a hint, as it was drawn.")]
    reveal: Hint.Reveal
    since: datetime
    until: datetime
    hinted: Arm
    blind: Arm
    gaps: Gaps
    opened: Annotated[Share, Meta(description="Hinted labels in which a score was seen at all.")]
    changed: Annotated[
        Share, Meta(description="Own ratings, there before the score was seen, that were changed after it.")
    ]


class HintComparisons(APIView):
    """What the model's scores beside the work do to labels."""

    @extend_schema(operation_id="compare_hints", responses=list[HintComparison])
    def get(self, request: Request, slug: str) -> Response:
        """The two arms of each way in which hints were drawn, the latest first; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        return Response([HintComparison.of(one, **one.design._asdict()) for one in compare_hints(project)])
