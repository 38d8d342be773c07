"""Disputes (claims that a reference answer is wrong) and their resolution."""

from datetime import datetime
from typing import Annotated, Any, Self

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
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, visible_projects
from annotation.labels.quality.dispute_decision import resolve
from annotation.models import Dispute
from prm.messages import Message


class DisputeRow(Row):
    id: Id
    solution: Id
    annotation: Id
    problem: str
    reference_answer: Annotated[str | None, Meta(description="The current reference answer.")]
    comment: Annotated[str, Meta(description="The annotator's reason.")]
    state: Dispute.State
    resolution: str
    created_at: datetime
    resolved_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        label = row.annotation
        problem = label.solution.problem
        return super().of(
            row,
            solution=label.solution_id,
            problem=problem.text,
            reference_answer=problem.reference_answer,
            comment=label.comment,
            **others,
        )


class DisputesAsked(msgspec.Struct):
    state: Dispute.State | UnsetType = UNSET


class DisputeDecision(msgspec.Struct):
    upheld: Annotated[bool, Meta(description="True if the reference is wrong.")]
    resolution: Annotated[Written, Meta(description="Reason for the decision.")]
    reference: Annotated[str, Meta(description="The right answer, which replaces the wrong reference.")] = ""


class Disputes(PagedView):
    """The disputes of a project."""

    @extend_schema(operation_id="list_disputes", parameters=query_of(DisputesAsked), responses=Page[DisputeRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's disputes, earliest first. Reviewers and managers only."""
        asked = read_query(request, DisputesAsked)
        disputes = find_project(request.user, slug, *STAFF).disputes.filter(**sent_fields(asked))
        return self.page_of(
            disputes.select_related("annotation__solution__problem").order_by("pk"), request, DisputeRow.of
        )


class ResolveDispute(APIView):
    """Resolving a dispute."""

    @extend_schema(operation_id="resolve_dispute", request=DisputeDecision, responses=DisputeRow)
    def post(self, request: Request, dispute_id: int) -> Response:
        """Resolve the dispute and every other open dispute on the same problem. Reviewers and managers only."""
        known = Dispute.objects.filter(project__in=visible_projects(request.user))
        dispute = known.select_related("project").filter(pk=dispute_id).first()
        if dispute is None:
            raise Missing(Message("dispute_not_found"))
        decision = read_body(request, DisputeDecision)
        settled = resolve(by=caller(request), dispute=dispute, **msgspec.structs.asdict(decision))
        return Response(DisputeRow.of(settled))
