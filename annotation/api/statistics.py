"""Statistics of a project's work: labels, agreement of sources, effects of hints."""

from typing import Annotated, Any

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.agreement.contrast import contrasts
from annotation.labels.annotators.hint_effects import HintComparison, compare_hints
from annotation.labels.labour.statistics import labels_of, lanes_of_open_generation
from annotation.models import Lane
from prm.vocabulary import SourceKind


class LaneFigures(msgspec.Struct):
    lane: Lane
    items: Annotated[Count, about("Number of queue items.")]
    wanted: Annotated[Count, about("Annotations wanted.")]
    done: Annotated[Count, about("Annotations submitted.")]


class LabelFigures(msgspec.Struct):
    total: Annotated[Count, about("Number of labels.")]
    first_errors: Annotated[Count, about("Annotations that found an error.")]
    median_seconds: Annotated[float | None, about("Median time of one annotation.")]


class Statistics(msgspec.Struct):
    labels: Annotated[LabelFigures, about("The labels so far.")]
    lanes: Annotated[list[LaneFigures], about("The open generation by lane.")]


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
    kind: Annotated[SourceKind, about("What the labels come from.")]
    name: Annotated[str, about("The model or the labeller in a file; empty for the project's members.")]
    detail: Annotated[dict[str, Any], about("Settings of the source, such as the number of rollouts.")]


class ContrastOfSources(Row):
    """Pairs of labels by two sources on one solution: how many agree on the first error, and which source finds one."""

    one: Annotated[SourceRow, about("One source.")]
    other: Annotated[SourceRow, about("The other source.")]
    pairs: Annotated[Count, about("Number of pairs of labels on one solution.")]
    exact: Annotated[Count, about("Pairs with the same first error, or both with none.")]
    within_one: Annotated[Count, about("Pairs with the same or a neighbouring first error.")]
    both: Annotated[Count, about("Pairs in which both find an error.")]
    neither: Annotated[Count, about("Pairs in which neither finds an error.")]
    only_one: Annotated[Count, about("Pairs in which only `one` finds an error.")]
    only_other: Annotated[Count, about("Pairs in which only `other` finds an error.")]


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


class HintComparisons(APIView):
    """The effect of hints on labels."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="compare_hints", responses=list[HintComparison])
    def get(self, request: Request, slug: str) -> Response:
        """The two arms of each hint policy, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return Response(compare_hints(project))
