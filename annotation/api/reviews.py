"""The review queue, the labels of a case, and the decision."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from msgspec.structs import asdict
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.annotations import Receipt
from annotation.api.authentication import by_program, caller
from annotation.api.boundary import Row, read_body, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, FirstError, Id, Note
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project
from annotation.labels.quality.review_case import case_of
from annotation.labels.quality.review_queue import to_review
from annotation.models import Annotation, Project, Solution
from annotation.work.labelling.adjudication import accept, adjudicate
from annotation.work.labelling.payload import OwnLabel, Submission
from annotation.work.labelling.revisions import as_submitted
from annotation.work.labelling.submission import Submitted
from prm.messages import Message


class ReviewsAsked(msgspec.Struct):
    reason: Literal["", "disagreement", "dispute", "doubt"] = ""


class WaitingSolution(Row):
    """A solution that waits for a reviewer, and why."""

    solution: Id
    problem: str
    domain: str
    differs: Annotated[bool, Meta(description="Annotators disagree on the first error.")]
    disputed: Annotated[bool, Meta(description="Somebody disputes the reference.")]
    doubted: Annotated[bool, Meta(description="Somebody flagged a step, or was unsure of one.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, solution=row.pk, problem=row.problem.text, domain=row.problem.domain, **others)


class LabelOfCase(OwnLabel, kw_only=True):
    """A submitted label and its state."""

    id: Id
    annotator: Annotated[str | None, Meta(description="Null if the label was imported.")]
    adjudicates: bool
    first_error: FirstError | None
    sent_back: Annotated[bool, Meta(description="Whether it was sent back and its annotator has not answered yet.")]

    @classmethod
    def of(cls, label: Any) -> Self:
        return cls(
            **asdict(as_submitted(label)),
            id=label.pk,
            annotator=label.annotator and label.annotator.user.username,
            adjudicates=label.adjudicates,
            first_error=label.first_error,
            sent_back=bool(label.open_requests),
        )


class StepOfCase(Row):
    id: Id
    position: Count
    alternative: Count
    text: str
    differs: Annotated[bool, Meta(description="Whether annotators disagree on this step.")]


class CaseToReview(msgspec.Struct):
    """The latest human labels of one solution, side by side."""

    solution: Id
    newest: Annotated[Count, Meta(description="The value to send as `seen` with a decision.")]
    steps: list[StepOfCase]
    labels: list[LabelOfCase]


Seen = Annotated[Count, Meta(description="The `newest` of the case that the decision is based on.")]


class DecidingLabel(Submission, frozen=True, kw_only=True):
    """The reviewer's own label, as the decision."""

    seen: Seen


class LabelToAccept(msgspec.Struct):
    submission_id: Annotated[UUID, Meta(description="Made by the client; a retry sends the same id.")]
    seen: Seen
    comment: Note = ""


class ReviewQueue(PagedView):
    """The review queue."""

    @extend_schema(operation_id="list_reviews", parameters=query_of(ReviewsAsked), responses=Page[WaitingSolution])
    def get(self, request: Request, slug: str) -> Response:
        """Disagreements first, then disputed references, then steps in doubt. Reviewers and managers only."""
        asked = read_query(request, ReviewsAsked)
        project = find_project(request.user, slug, *STAFF)
        rows = to_review(project, asked.reason)
        return self.page_of(rows.select_related("problem"), request, WaitingSolution.of)


class ReviewCase(APIView):
    """The labels of one solution."""

    @extend_schema(operation_id="get_review", responses=CaseToReview)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """The latest human labels, with the steps on which they differ. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        found = case_of(_solution(project, solution_id))
        steps = [StepOfCase.of(row.step, differs=row.differs) for row in found.rows]
        labels = [LabelOfCase.of(label) for label in found.labels]
        return Response(CaseToReview(solution_id, found.newest, steps, labels))


class Adjudications(APIView):
    """Deciding with one's own label."""

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
        asked = read_body(request, DecidingLabel)
        label = asdict(asked)
        seen = label.pop("seen")
        made = adjudicate(
            by=caller(request),
            project=project,
            submission=Submission(**label),
            seen=seen,
            by_program=by_program(request),
        )
        return _receipt(made)


class AcceptLabel(APIView):
    """Deciding with an existing label."""

    @extend_schema(
        operation_id="accept_label",
        request=LabelToAccept,
        responses={201: Receipt, 200: Receipt},
    )
    def post(self, request: Request, slug: str, annotation_id: int) -> Response:
        """Accept this label as the decision. Responses are as for one's own label."""
        project = find_project(request.user, slug, *STAFF)
        asked = read_body(request, LabelToAccept)
        made = accept(
            by=caller(request),
            annotation=label_in(project, annotation_id),
            by_program=by_program(request),
            **asdict(asked),
        )
        return _receipt(made)


def label_in(project: Project, annotation_id: int) -> Annotation:
    """Raises Missing."""
    labels = project.annotations.select_related("project", "source", "annotator").filter(pk=annotation_id)
    if (label := labels.first()) is None:
        raise Missing(Message("annotation_not_found", annotation_id=annotation_id, name=project.name))
    return label


def _solution(project: Project, solution_id: int) -> Solution:
    found = project.solutions.filter(pk=solution_id).first()
    if found is None:
        raise Missing(
            Message("solution_id_not_in_project", solution_id=solution_id, name=project.name), code="solution_not_found"
        )
    return found


def _receipt(made: Submitted) -> Response:
    return Response(Receipt.of(made), status=201 if made.created else 200)
