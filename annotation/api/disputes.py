"""Claims that a reference is wrong, and the decision on each."""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, Written
from annotation.core.membership.access import STAFF, find_project, find_visible
from annotation.labels.quality.dispute_decision import resolve
from annotation.models import Dispute
from prm.messages import Message


class DisputeRow(Row):
    paths: ClassVar[dict[str, str]] = {
        "solution": "annotation.solution_id",
        "problem": "annotation.solution.problem.text",
        "reference_answer": "annotation.solution.problem.reference_answer",
        "comment": "annotation.comment",
    }

    id: Id
    solution: Id
    annotation: Id
    problem: str
    reference_answer: Annotated[str | None, Meta(description="As it is now.")]
    comment: Annotated[str, Meta(description="What the annotator says.")]
    state: Dispute.State
    resolution: str
    created_at: datetime
    resolved_at: datetime | None


class DisputesQuery(msgspec.Struct):
    state: Dispute.State | UnsetType = UNSET


class DisputeDecision(msgspec.Struct):
    upheld: Annotated[bool, Meta(description="Whether the reference is wrong.")]
    resolution: Annotated[Written, Meta(description="Why.")]
    reference: Annotated[str, Meta(description="The right answer, to stand in the wrong one's place.")] = ""


class Disputes(PagedView):
    """The disputes of a project."""

    @extend_schema(operation_id="list_disputes", parameters=query_of(DisputesQuery), responses=Page[DisputeRow])
    def get(self, request: Request, slug: str) -> Response:
        """The earliest first; for reviewers and managers."""
        query = read_query(request, DisputesQuery)
        disputes = find_project(request.user, slug, *STAFF).disputes.filter(**sent_fields(query))
        return self.page_of(
            disputes.select_related("annotation__solution__problem").order_by("pk"), request, DisputeRow.of
        )


class ResolveDispute(APIView):
    """Deciding on a dispute."""

    @extend_schema(operation_id="resolve_dispute", request=DisputeDecision, responses=DisputeRow)
    def post(self, request: Request, dispute_id: int) -> Response:
        """Settle it, and with it all that are open on the same problem. A reviewer or manager may."""
        dispute = find_visible(request.user, Dispute.objects.all(), dispute_id, Message("dispute_not_found"))
        decision = read_body(request, DisputeDecision)
        settled = resolve(by=caller(request), dispute=dispute, **msgspec.structs.asdict(decision))
        return Response(DisputeRow.of(settled))
