"""Labels that a reviewer sent back to their annotators."""

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
from annotation.api.reviews import label_in
from annotation.api.schema import query_of
from annotation.core.bounds import LONGEST_TEXT, Id, Written
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, membership_of, visible_projects
from annotation.models import SentBack
from annotation.work.labelling.sending_back import send_back, take_back
from prm.messages import Message


class SentBackRow(Row):
    id: Id
    solution: Id
    annotation: Id
    reason: str
    state: SentBack.State
    answer: Id | None
    created_at: datetime
    ended_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, solution=row.annotation.solution_id, **others)


class SentBackAsked(msgspec.Struct):
    state: SentBack.State | UnsetType = UNSET


class LabelToSendBack(msgspec.Struct):
    reason: Annotated[
        Written,
        Meta(max_length=LONGEST_TEXT, description="What the annotator should check. The annotator sees this text."),
    ]


class SentBackList(PagedView):
    """Labels that were sent back."""

    @extend_schema(operation_id="list_sent_back", parameters=query_of(SentBackAsked), responses=Page[SentBackRow])
    def get(self, request: Request, slug: str) -> Response:
        """Labels sent back, latest first. Annotators see their own, reviewers and managers all."""
        asked = read_query(request, SentBackAsked)
        project = find_project(request.user, slug)
        rows = project.sent_back.filter(**sent_fields(asked))
        member = membership_of(request.user, project)
        if member is not None and member.role not in STAFF:
            rows = rows.filter(annotation__annotator=member)
        return self.page_of(rows.select_related("annotation").order_by("-pk"), request, SentBackRow.of)


class SendBack(APIView):
    """Sending a label back."""

    @extend_schema(operation_id="send_back", request=LabelToSendBack, responses={201: SentBackRow})
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Ask the annotator to revise the label. Reviewers and managers only."""
        label = label_in(find_project(request.user, slug, *STAFF), annotation_id)
        reason = read_body(request, LabelToSendBack).reason
        return Response(SentBackRow.of(send_back(by=caller(request), annotation=label, reason=reason)), status=201)


class TakeBack(APIView):
    """Withdrawing the request to revise a label."""

    @extend_schema(operation_id="take_back", request=None, responses=SentBackRow)
    def post(self, request: Request, sent_id: int) -> Response:
        """Take the request back, so that the annotator need not revise the label. Reviewers and managers only."""
        known = SentBack.objects.filter(project__in=visible_projects(request.user)).select_related("project")
        sent = known.filter(pk=sent_id).first()
        if sent is None:
            raise Missing(Message("sent_back_not_found"))
        return Response(SentBackRow.of(take_back(by=caller(request), sent=sent)))
