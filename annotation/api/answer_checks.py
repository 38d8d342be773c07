"""Checks of final answers: list them and start one."""

from typing import Annotated, Any, Self

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.api.job_rows import JobRow
from annotation.api.paging import Page, PagedView
from annotation.core.bounds import Count
from annotation.core.membership.access import STAFF, find_project
from annotation.files.answer_checks import start_answer_check
from annotation.models import Membership


class AnswerCheckRow(JobRow):
    """A run of the grader over a project's solutions; counts are of solutions."""

    overwrite: bool
    total: Count
    done: Count
    correct: Count
    wrong: Count
    unknown: Count
    changed: Count
    disagreements: Annotated[Count, Meta(description="With outcomes that were given or are from tests.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(row, disagreements=row.disagreements.count(), **others)


class AnswerCheckToStart(msgspec.Struct):
    overwrite: Annotated[bool, Meta(description="Also outcomes that were given, or are from tests.")] = False


class AnswerChecks(PagedView):
    """The answer checks of a project."""

    @extend_schema(operation_id="list_answer_checks", request=None, responses=Page[AnswerCheckRow])
    def get(self, request: Request, slug: str) -> Response:
        """The checks of the project, the latest first. Reviewers and managers may."""
        project = find_project(request.user, slug, *STAFF)
        return self.page_of(project.answer_checks.select_related("project", "requested_by"), request, AnswerCheckRow.of)

    @extend_schema(operation_id="start_answer_check", request=AnswerCheckToStart, responses={202: AnswerCheckRow})
    def post(self, request: Request, slug: str) -> Response:
        """Let a worker compare final answers with their references and set outcomes. A manager may."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        asked = read_body(request, AnswerCheckToStart)
        check = start_answer_check(by=caller(request), project=project, overwrite=asked.overwrite)
        return Response(AnswerCheckRow.of(check), status=202)
