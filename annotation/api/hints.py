"""What hints do to labels, for programs."""

from datetime import datetime
from typing import Annotated

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.anchoring import Arm, Gaps
from annotation.labels.quality.hint_effects import compare_hints
from annotation.models import Hint
from annotation.work.gold.gold_accuracy import Share


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
        found = compare_hints(project)
        return Response([HintComparison.of(one, **one.design._asdict()) for one in found])
