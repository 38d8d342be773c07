"""Review: the queue, the labels of a solution, decisions, and labels that were sent back."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.annotations import Receipt
from annotation.api.authentication import by_program, caller
from annotation.api.boundary import Row, read_body, read_query, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import LONGEST_TEXT, Count, FirstError, Id, NonBlank, Note, about
from annotation.core.membership.access import STAFF, find_project, find_visible, membership_of
from annotation.core.reading import find_row
from annotation.labels.consensus.review_case import case_of
from annotation.labels.consensus.review_queue import to_review
from annotation.models import Annotation, Project, SentBack, Solution
from annotation.work.labelling.adjudication import accept, adjudicate
from annotation.work.labelling.payload import OwnLabel, Submission
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.sending_back import send_back, take_back
from annotation.work.labelling.submission import Submitted
from prm.messages import Message


class ReviewsQuery(msgspec.Struct):
    reason: Annotated[
        Literal["", "disagreement", "dispute", "doubt"], about("Why it waits; all reasons if left out.")
    ] = ""


class WaitingSolution(Row):
    """A solution that waits for a reviewer, and why."""

    paths: ClassVar[dict[str, str]] = {"solution": "pk", "problem": "problem.text", "domain": "problem.domain"}

    solution: Id
    problem: str
    domain: str
    differs: Annotated[bool, about("Annotators disagree on the first error.")]
    disputed: Annotated[bool, about("Somebody disputes the reference.")]
    doubted: Annotated[bool, about("Somebody flagged a step, or was unsure of one.")]


class LabelOfCase(OwnLabel, kw_only=True):
    """A submitted label and its state."""

    id: Annotated[Id, about("The id of the label.")]
    annotator: Annotated[str | None, about("Null for an imported label that names nobody.")]
    adjudicates: bool
    first_error: FirstError | None
    sent_back: Annotated[bool, about("Whether it was sent back and its annotator has not answered yet.")]

    @classmethod
    def of(cls, label: Any) -> Self:
        return cls(
            **asdict(as_submitted(label)),
            id=label.pk,
            annotator=label.annotator and label.annotator.name,
            adjudicates=label.adjudicates,
            first_error=label.first_error,
            sent_back=bool(label.open_requests),
        )


class StepOfCase(Row):
    id: Id
    position: Count
    alternative: Count
    text: str
    differs: Annotated[bool, about("Whether annotators disagree on this step.")]


class CaseToReview(msgspec.Struct):
    """The latest human labels of one solution, side by side."""

    solution: Id
    newest: Annotated[Count, about("The value to send as `seen` with a decision.")]
    steps: Annotated[list[StepOfCase], about("The steps, in order.")]
    labels: Annotated[list[LabelOfCase], about("The latest label of each person.")]


Seen = Annotated[Count, about("The `newest` of the case that the decision is based on.")]


class DecidingLabel(Submission, frozen=True, kw_only=True):
    """The reviewer's own label, as the decision."""

    seen: Seen


class LabelToAccept(msgspec.Struct):
    submission_id: Annotated[UUID, about("Made by the client; a retry sends the same id.")]
    seen: Seen
    comment: Note = ""


class ReviewQueue(PagedView):
    """The review queue."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_reviews", parameters=query_of(ReviewsQuery), responses=Page[WaitingSolution])
    def get(self, request: Request, slug: str) -> Response:
        """Disagreements first, then disputed references, then steps in doubt. Reviewers and managers only."""
        query = read_query(request, ReviewsQuery)
        project = find_project(request.user, slug, *STAFF)
        rows = to_review(project, query.reason)
        return self.page_of(rows.select_related("problem"), request, WaitingSolution.of)


class ReviewCase(APIView):
    """The labels of one solution."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_review", responses=CaseToReview)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The latest human labels, with the steps on which they differ. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        case = case_of(_solution(project, solution_id))
        steps = [StepOfCase.of(row.step, differs=row.differs) for row in case.rows]
        labels = [LabelOfCase.of(label) for label in case.labels]
        return Response(CaseToReview(solution_id, case.newest, steps, labels))


class Adjudications(APIView):
    """Deciding with one's own label."""

    scopes = {"POST": "submit"}

    @extend_schema(
        operation_id="adjudicate",
        request=DecidingLabel,
        responses={201: Receipt, 200: Receipt},
    )
    def post(self, request: Request, slug: str) -> Response:
        """Decide on a solution. Returns 201 the first time, and 200 with the same body if the decision is repeated.

        Returns 409 `labels_changed` if there is a newer label than `seen`.
        """
        project = find_project(request.user, slug, *STAFF)
        body = read_body(request, DecidingLabel)
        submitted = adjudicate(
            by=caller(request),
            project=project,
            submission=body.label,
            seen=body.seen,
            by_program=by_program(request),
        )
        return _receipt(submitted)


class AcceptLabel(APIView):
    """Deciding with an existing label."""

    scopes = {"POST": "submit"}

    @extend_schema(
        operation_id="accept_label",
        request=LabelToAccept,
        responses={201: Receipt, 200: Receipt},
    )
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Accept this label as the decision. Responses are as for one's own label."""
        project = find_project(request.user, slug, *STAFF)
        body = read_body(request, LabelToAccept)
        submitted = accept(
            by=caller(request),
            annotation=label_in(project, annotation_id),
            by_program=by_program(request),
            **asdict(body),
        )
        return _receipt(submitted)


def label_in(project: Project, annotation_id: int) -> Annotation:
    """The project's label with this id. Raises Missing (`annotation_not_found`)."""
    labels = project.annotations.select_related("project", "source", "annotator").filter(pk=annotation_id)
    return find_row(labels, Message("annotation_not_found", annotation_id=annotation_id, name=project.name))


def _solution(project: Project, solution_id: int) -> Solution:
    otherwise = Message("solution_id_not_in_project", solution_id=solution_id, name=project.name)
    return find_row(project.solutions.filter(pk=solution_id), otherwise, code="solution_not_found")


def _receipt(submitted: Submitted) -> Response:
    return Response(Receipt.of(submitted), status=201 if submitted.created else 200)


class SentBackRow(Row):
    paths: ClassVar[dict[str, str]] = {"solution": "annotation.solution_id"}

    id: Id
    solution: Id
    annotation: Annotated[Id, about("The id of the label.")]
    reason: Annotated[str, about("The reason in words; empty for none.")]
    state: SentBack.State
    answer: Annotated[Id | None, about("The id of the label that answers the request; null while it is open.")]
    created_at: datetime
    ended_at: Annotated[datetime | None, about("When the request ended; null while it is open.")]


class SentBackQuery(msgspec.Struct):
    state: Annotated[SentBack.State | UnsetType, about("Whether the request is open.")] = UNSET


class LabelToSendBack(msgspec.Struct):
    reason: Annotated[
        NonBlank,
        Meta(max_length=LONGEST_TEXT, description="What the annotator should check. The annotator sees this text."),
    ]


class SentBackList(PagedView):
    """Labels that were sent back."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_sent_back", parameters=query_of(SentBackQuery), responses=Page[SentBackRow])
    def get(self, request: Request, slug: str) -> Response:
        """Labels sent back, latest first. Annotators see their own, reviewers and managers all."""
        query = read_query(request, SentBackQuery)
        project = find_project(request.user, slug)
        rows = project.sent_back.filter(**sent_fields(query))
        member = membership_of(request.user, project)
        if member is not None and member.role not in STAFF:
            rows = rows.filter(annotation__annotator=member)
        return self.page_of(rows.select_related("annotation").order_by("-pk"), request, SentBackRow.of)


class SendBack(APIView):
    """Sending a label back."""

    scopes = {"POST": "submit"}

    @extend_schema(operation_id="send_back", request=LabelToSendBack, responses={201: SentBackRow})
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Ask the annotator to revise the label. Reviewers and managers only."""
        label = label_in(find_project(request.user, slug, *STAFF), annotation_id)
        reason = read_body(request, LabelToSendBack).reason
        return Response(SentBackRow.of(send_back(by=caller(request), annotation=label, reason=reason)), status=201)


class TakeBack(APIView):
    """Withdrawing the request to revise a label."""

    scopes = {"POST": "submit"}

    @extend_schema(operation_id="take_back", request=None, responses=SentBackRow)
    def post(self, request: Request, sent_id: int) -> Response:
        """Take the request back, so that the annotator need not revise the label. Reviewers and managers only."""
        sent = find_visible(request.user, SentBack.objects.all(), sent_id, Message("sent_back_not_found"))
        return Response(SentBackRow.of(take_back(by=caller(request), sent=sent)))
