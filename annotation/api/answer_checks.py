"""The check of final answers over the API: start one, watch it, cancel it."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, read_body
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count, Id
from annotation.core.errors import Missing
from annotation.core.lifecycle import cancel_job
from annotation.core.membership.access import STAFF, find_project, require_role, visible_projects
from annotation.files.answer_checks import start_answer_check
from annotation.models import AnswerCheck, Membership
from prm.messages import Message


class AnswerCheckRow(Row):
    """A run of the grader over a project's solutions; counts are of solutions."""

    id: Id
    project: str
    overwrite: bool
    state: AnswerCheck.State
    total: Count
    done: Count
    correct: Count
    wrong: Count
    unknown: Count
    changed: Count
    disagreements: Annotated[
        Count, Meta(description="Solutions whose outcome from the import or from tests differs from the grader's.")
    ]
    cancel_requested: bool
    error: str
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, project=row.project.slug, disagreements=row.disagreements.count(), **others)


class AnswerCheckToStart(msgspec.Struct):
    overwrite: Annotated[bool, Meta(description="Also overwrite outcomes from the import or from tests.")] = False


class AnswerChecks(PagedView):
    """The answer checks of a project."""

    @extend_schema(operation_id="list_answer_checks", request=None, responses=Page[AnswerCheckRow])
    def get(self, request: Request, slug: str) -> Response:
        """The project's answer checks, latest first. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.answer_checks.select_related("project"), request, AnswerCheckRow.of)

    @extend_schema(operation_id="start_answer_check", request=AnswerCheckToStart, responses={202: AnswerCheckRow})
    def post(self, request: Request, slug: str) -> Response:
        """Start a job that compares final answers with their references and sets outcomes. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_body(request, AnswerCheckToStart)
        check = start_answer_check(by=caller(request), project=project, overwrite=asked.overwrite)
        return Response(AnswerCheckRow.of(check), status=202)


class AnswerCheckDetail(APIView):
    """One answer check."""

    @extend_schema(operation_id="get_answer_check", responses=AnswerCheckRow)
    def get(self, request: Request, check_id: int) -> Response:
        """Progress and results of the check. Reviewers and managers only."""
        return Response(AnswerCheckRow.of(_find(request, check_id)))


class CancelAnswerCheck(APIView):
    """Cancelling an answer check."""

    @extend_schema(operation_id="cancel_answer_check", request=None, responses=AnswerCheckRow)
    def post(self, request: Request, check_id: int) -> Response:
        """Stop the check. Answers graded so far keep their outcome. Managers only."""
        return Response(AnswerCheckRow.of(cancel_job(by=caller(request), job=_find(request, check_id))))


def _find(request: Request, check_id: int) -> AnswerCheck:
    checks = AnswerCheck.objects.select_related("project").filter(project__in=visible_projects(request.user))
    check = checks.filter(pk=check_id).first()
    if check is None:
        raise Missing(Message("answer_check_not_found", check_id=check_id))
    require_role(request.user, check.project, *STAFF)
    return check
