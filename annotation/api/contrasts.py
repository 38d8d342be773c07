"""Agreement between label sources, pair by pair."""

from typing import Annotated, Any

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count, Id
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.contrast import contrasts
from prm.vocabulary import SourceKind


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
