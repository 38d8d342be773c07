"""The measured effect of hints on labels."""

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


class HintComparisons(APIView):
    """The effect of hints on labels."""

    @extend_schema(operation_id="compare_hints", responses=list[HintComparison])
    def get(self, request: Request, slug: str) -> Response:
        """The two arms of each hint policy, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        found = compare_hints(project)
        return Response([HintComparison.of(one, **one.design._asdict()) for one in found])
