"""Solutions: their origin, their outcome, and their steps."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal, Self

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.boundary import Row, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.posting import PostSolutions
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, JSONObject, Position, about
from annotation.core.membership.access import STAFF, find_project
from annotation.core.reading import find_row
from annotation.labels.list_filters import SolutionFilter
from annotation.loop.pool.scored_solutions import solutions_with_scores
from annotation.loop.registry import champion_of
from prm.messages import Message
from prm.vocabulary import OutcomeSource, Split, StepKind


class ProblemRow(Row):
    """A problem. Its solutions are in the same split."""

    id: Annotated[Id, about("The problem's id in this installation.")]
    text: Annotated[str, about("The problem.")]
    domain: Annotated[str, about("The domain; empty if the file had none.")]
    source_group: Annotated[str, about("Problems of one group share a split.")]
    reference_answer: Annotated[str | None, about("The reference answer, as it is now; null if unknown.")]


class SolutionRow(Row):
    """A solution without its steps. Score and gain are those by the champion."""

    paths: ClassVar[dict[str, str]] = {}

    id: Annotated[Id, about("The solution's id in this installation.")]
    external_id: Annotated[str, about("The id in the file or the request that it came from; may be empty.")]
    problem: ProblemRow
    split: Annotated[Split, about("The split of the problem.")]
    generator: Annotated[str, about("The policy model that wrote it; empty if unknown.")]
    provenance: Annotated[JSONObject, about("How it was sampled: policy, temperature, run and so on.")]
    final_answer: Annotated[str | None, about("The solution's final answer; null if unknown.")]
    outcome: Annotated[Literal["correct", "wrong", "unknown"], about("Whether the final answer is right.")]
    outcome_source: Annotated[OutcomeSource | None, about("Where the outcome comes from; null if it is unknown.")]
    labels: Annotated[Count, about("Number of labels, without later revisions.")]
    score: Annotated[float | None, about("The champion's score; null if it has not scored the solution.")]
    gain: Annotated[float | None, about("Expected information of a label, in nats; null if unknown.")]
    created_at: Annotated[datetime, about("When it was imported.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        return super().of(
            row,
            problem=ProblemRow.of(row.problem),
            outcome_source=row.outcome_source or None,
            **others,
        )


class StepRow(Row):
    """A completion at a position of a solution."""

    position: Annotated[Position, about("Place in the solution, from 0.")]
    alternative: Annotated[Count, about("0 for the sampled completion; others are alternatives to it.")]
    text: Annotated[str, about("The step.")]
    kind: Annotated[StepKind, about("The kind of step.")]


class SolutionWithSteps(SolutionRow):
    """A solution with its steps."""

    steps: Annotated[list[StepRow], about("By position, then by alternative.")]
    reference_solution: Annotated[str | None, about("The reference solution; null if unknown.")]
    extra: Annotated[JSONObject, about("Other fields of the file.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        steps = [StepRow.of(step) for step in row.steps.all()]
        return super().of(row, steps=steps, reference_solution=row.problem.reference_solution, **others)


class Solutions(PagedView, PostSolutions):
    """The solutions of a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(
        operation_id="list_solutions", parameters=query_of(SolutionFilter), responses=Page[SolutionRow], request=None
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's solutions, latest first, without their steps. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        rows = solutions_with_scores(project, champion_of(project)).order_by("-pk")
        return self.page_of(read_query(request, SolutionFilter).narrow(project, rows), request, SolutionRow.of)


class SolutionDetail(APIView):
    """One solution."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="get_solution", responses=SolutionWithSteps)
    def get(self, request: Request, slug: str, solution_id: int) -> Response:
        """A solution with its steps. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        rows = solutions_with_scores(project, champion_of(project)).filter(pk=solution_id)
        otherwise = Message("solution_id_not_in_project", solution_id=solution_id, name=project.name)
        return Response(SolutionWithSteps.of(find_row(rows, otherwise, code="solution_not_found")))
