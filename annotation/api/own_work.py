"""The caller's own work: amount, time, accuracy on gold, agreement with others, and labels sent back."""

from datetime import date
from typing import Annotated

from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row
from annotation.core.bounds import Count, about
from annotation.core.membership.access import find_project, require_role
from annotation.labels.annotators.own_work import own_work
from annotation.work.gold.gold_accuracy import Share


class OwnDay(Row):
    day: Annotated[date, about("The day, in the project's time zone.")]
    labels: Annotated[Count, about("Number of labels.")]
    seconds: Annotated[float, about("Time in seconds.")]


class OwnFigures(Row):
    """Statistics of the latest revision of each of the caller's labels."""

    today: Annotated[Count, about("Labels today.")]
    total: Annotated[Count, about("Number of labels.")]
    median_seconds: Annotated[float | None, about("Median time per label.")]
    seconds: Annotated[float, about("Total time.")]
    days: Annotated[
        list[OwnDay], about("Labels on each of the last thirty days in the project's time zone, today last.")
    ]
    gold: Annotated[
        Share | None,
        Meta(
            description="Right answers on hidden gold until yesterday; null for fewer than ten, or if the policy "
            "(`feedback.gold`) hides them."
        ),
    ]
    peers: Annotated[
        Share | None,
        Meta(
            description="Labels by others on the same solutions with the same first error, until yesterday; null as "
            "above (`feedback.peers`)."
        ),
    ]


class MyWork(APIView):
    """The caller's own work."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="my_work", request=None, responses=OwnFigures)
    def get(self, request: Request, slug: str) -> Response:
        """The caller's labels in the project, their time, accuracy on gold and agreement with others."""
        mine = own_work(require_role(request.user, find_project(request.user, slug)))
        return Response(OwnFigures.of(mine, days=[OwnDay.of(figures, day=day) for day, figures in mine.days.items()]))
