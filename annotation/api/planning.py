"""The plan of more labels: their end date, cost and quality, and what a model would gain."""

from typing import Annotated

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import read_query
from annotation.api.schema import query_of
from annotation.core.bounds import about
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.planning.planner import Plan, plan_labels
from annotation.labels.planning.workload import Goal

Hours = Annotated[float, Meta(gt=0, le=10_000)]
F1 = Annotated[float, Meta(gt=0, lt=1)]


class PlanQuery(msgspec.Struct):
    goal: Annotated[Goal, about("What to plan up to.")] = "labels"
    amount: Annotated[
        float, Meta(gt=0, le=10_000_000, description="Labels, money in the project's currency, or days, by `goal`.")
    ] = 1000
    hours_a_week: Annotated[Hours | None, about("Hours of labelling a week; by default as in the last weeks.")] = None
    wanted_f1: Annotated[F1 | None, about("A holdout F1 to reach.")] = None


class Planning(APIView):
    """A plan of more labels."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_plan", parameters=query_of(PlanQuery), responses=Plan)
    def get(self, request: Request, slug: str) -> Response:
        """What more labels take and bring, each figure with its 80 % band. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        query = read_query(request, PlanQuery)
        return Response(plan_labels(project, **msgspec.structs.asdict(query)))
