"""Disputes (claims that a reference answer is wrong) and their resolution."""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body, read_query, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, NonBlank, about
from annotation.core.membership.access import STAFF, find_project, find_visible
from annotation.labels.consensus.dispute_decision import resolve
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
    annotation: Annotated[Id, about("The id of the label that claims it.")]
    problem: str
    reference_answer: Annotated[str | None, about("As it is now.")]
    comment: Annotated[str, about("The annotator's reason.")]
    state: Dispute.State
    resolution: Annotated[str, about("Why it was settled so; empty while it is open.")]
    created_at: datetime
    resolved_at: Annotated[datetime | None, about("When it was settled; null while it is open.")]


class DisputesQuery(msgspec.Struct):
    state: Annotated[Dispute.State | UnsetType, about("Whether the dispute is open.")] = UNSET


class DisputeDecision(msgspec.Struct):
    upheld: Annotated[bool, about("True if the reference is wrong.")]
    resolution: Annotated[NonBlank, about("Why.")]
    reference: Annotated[str, about("The right answer, which replaces the wrong reference.")] = ""


class Disputes(PagedView):
    """The disputes of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_disputes", parameters=query_of(DisputesQuery), responses=Page[DisputeRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's disputes, earliest first. Reviewers and managers only."""
        query = read_query(request, DisputesQuery)
        disputes = find_project(request.user, slug, *STAFF).disputes.filter(**sent_fields(query))
        return self.page_of(
            disputes.select_related("annotation__solution__problem").order_by("pk"), request, DisputeRow.of
        )


class ResolveDispute(APIView):
    """Resolving a dispute."""

    scopes = {"POST": "submit"}

    @extend_schema(operation_id="resolve_dispute", request=DisputeDecision, responses=DisputeRow)
    def post(self, request: Request, dispute_id: int) -> Response:
        """Resolve the dispute and every other open dispute on the same problem. Reviewers and managers only."""
        dispute = find_visible(request.user, Dispute.objects.all(), dispute_id, Message("dispute_not_found"))
        decision = read_body(request, DisputeDecision)
        settled = resolve(by=caller(request), dispute=dispute, **msgspec.structs.asdict(decision))
        return Response(DisputeRow.of(settled))
