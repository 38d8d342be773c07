"""Gold solutions, accuracy on them, and screening decisions."""

from datetime import datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, FirstError, Id, about
from annotation.core.membership.access import STAFF, find_project, find_visible, require_role
from annotation.core.reading import find_row
from annotation.models import MEMBER_NAME, GoldAnswer, Membership, Project, ScreeningDecision
from annotation.work.gold.designation import mark_gold, retire_gold
from annotation.work.gold.gold_accuracy import Share
from annotation.work.gold.gold_answers import accuracy_by_person
from annotation.work.gold.screening import decide
from prm.messages import Message

Reason = Annotated[str, Meta(max_length=500)]


class GoldRow(Row):
    paths: ClassVar[dict[str, str]] = {"first_error": "annotation.first_error"}

    id: Id
    solution: Id
    annotation: Annotated[Id, about("The id of the label that is the reference.")]
    first_error: Annotated[FirstError | None, about("-1 for none.")]
    accepted: Annotated[list[FirstError], about("Other first errors that count as right.")]
    active: Annotated[bool, about("Whether it is in use; false for retired gold.")]
    practice: Annotated[bool, about("Whether it is for practice instead of hidden.")]
    explanation: Annotated[str, about("Why the first error is where it is.")]
    created_at: datetime


class GoldToMark(msgspec.Struct):
    annotation: Annotated[Id, about("The label that becomes the reference.")]
    accepted: Annotated[
        list[FirstError],
        Meta(max_length=100, description="Alternative first errors that count as right; -1 for none."),
    ] = []
    practice: Annotated[bool, about("True: for practice, with its answer shown; false: hidden.")] = False
    explanation: Annotated[str, Meta(max_length=4000, description="Explanation shown in practice.")] = ""


class GoldToRetire(msgspec.Struct):
    reason: Annotated[Reason, about("The reason in words; empty for none.")] = ""


class GoldAccuracyRow(Row):
    """How one annotator answered hidden gold. `outcomes` counts the answers by what was right or wrong."""

    member: Annotated[Id, about("The id of the membership.")]
    username: Annotated[str, about("The user name.")]
    right: Annotated[Share, about("Answers within the project's tolerance.")]
    exact: Annotated[Share, about("Answers with exactly the known first error.")]
    within_one: Annotated[Share, about("Answers at most one step from the known first error.")]
    presence: Annotated[Share, about("Answers that are right on whether there is an error.")]
    outcomes: Annotated[dict[str, Count], about("Number of answers by what was right or wrong.")]


class ScreeningDecisionRow(Row):
    paths: ClassVar[dict[str, str]] = {"by": "by.username"}

    id: Id
    outcome: Annotated[ScreeningDecision.Outcome, about("Whether the person may label.")]
    reason: Annotated[str, about("The reason in words; empty for none.")]
    right: Annotated[Count | None, about("Right answers among them; null if a manager decided.")]
    given: Annotated[Count | None, about("Number of gold answers that led to the decision; null if a manager decided.")]
    by: Annotated[str | None, about("User name of the person who decided; null if the policy decided.")]
    decided_at: Annotated[datetime, about("When it was decided.")]


class ScreeningToDecide(msgspec.Struct):
    outcome: Annotated[ScreeningDecision.Outcome, about("Whether the person may label.")]
    reason: Annotated[Reason, about("The reason in words; empty for none.")] = ""


class Gold(PagedView):
    """The gold solutions of a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_gold", request=None, responses=Page[GoldRow])
    def get(self, request: Request, slug: str) -> Response:
        """Active and retired gold, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        rows = project.gold_answers.select_related("annotation").order_by("-pk")
        return self.page_of(rows, request, GoldRow.of)

    @extend_schema(operation_id="mark_gold", request=GoldToMark, responses={201: GoldRow})
    def post(self, request: Request, slug: str) -> Response:
        """Make a solution gold, with one of its labels as the reference. Reviewers and managers only."""
        project = find_project(request.user, slug)
        body = read_body(request, GoldToMark)
        gold = mark_gold(
            by=caller(request),
            project=project,
            annotation_id=body.annotation,
            accepted=body.accepted,
            practice=body.practice,
            explanation=body.explanation,
        )
        return Response(GoldRow.of(gold), status=201)


class RetireGold(APIView):
    """Retiring gold."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="retire_gold", request=GoldToRetire, responses=GoldRow)
    def post(self, request: Request, gold_id: int) -> Response:
        """Make a gold solution an ordinary one again. Reviewers and managers only."""
        answers = GoldAnswer.objects.select_related("annotation")
        gold = find_visible(request.user, answers, gold_id, Message("gold_not_found"))
        retired = retire_gold(by=caller(request), gold=gold, reason=read_body(request, GoldToRetire).reason)
        return Response(GoldRow.of(retired))


class GoldAccuracy(APIView):
    """Annotators' accuracy on hidden gold."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_gold_accuracy", request=None, responses=list[GoldAccuracyRow])
    def get(self, request: Request, slug: str) -> Response:
        """Every annotator who answered hidden gold, by name. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        accuracy = accuracy_by_person(project)
        people = project.memberships.filter(pk__in=accuracy).select_related("user").order_by(MEMBER_NAME)
        return Response([GoldAccuracyRow.of(accuracy[of.pk], member=of.pk, username=of.name) for of in people])


class ScreeningDecisions(PagedView):
    """Screening decisions on a member."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_screening_decisions", request=None, responses=Page[ScreeningDecisionRow])
    def get(self, request: Request, slug: str, member_id: int) -> Response:
        """The decisions on a member, latest first. Reviewers and managers only."""
        person = _find_person(find_project(request.user, slug, *STAFF), member_id)
        rows = person.screening_decisions.select_related("by").order_by("-pk")
        return self.page_of(rows, request, ScreeningDecisionRow.of)

    @extend_schema(operation_id="decide_screening", request=ScreeningToDecide, responses={201: ScreeningDecisionRow})
    def post(self, request: Request, slug: str, member_id: int) -> Response:
        """Let a member label, screen them again, or pause them. Managers only."""
        project = find_project(request.user, slug)
        require_role(request.user, project, Membership.Role.MANAGER)
        person = _find_person(project, member_id)
        body = read_body(request, ScreeningToDecide)
        decision = decide(by=caller(request), membership=person, outcome=body.outcome, reason=body.reason)
        return Response(ScreeningDecisionRow.of(decision), status=201)


def _find_person(project: Project, member_id: int) -> Membership:
    people = project.memberships.select_related("project").filter(pk=member_id)
    return find_row(people, Message("project_member_not_found"), code="member_not_found")
