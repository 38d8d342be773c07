"""The next task of an annotator."""

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Annotated, Any, Self

import msgspec
from django.contrib.auth.models import User
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import read_body
from annotation.core.bounds import Count, Id, JSONObject, about
from annotation.core.membership.access import find_project
from annotation.core.statements import fetch_all
from annotation.models import Hint, LabelScheme, Lease, Project, Solution
from annotation.work.claiming import claim_next
from annotation.work.queue.claims import Reason, StepRow
from prm.vocabulary import StepKind

CRITIQUES = """
SELECT critique.step_id, critique.text FROM annotation_critique critique
JOIN annotation_step step ON step.id = critique.step_id
WHERE step.solution_id = %(solution)s ORDER BY critique.step_id, critique.ordinal
"""

Held = Annotated[list[Id], Meta(max_length=100, description="Leases that the page already holds.")]


class Holding(msgspec.Struct):
    holding: Held = []


class TaskLease(msgspec.Struct):
    id: Id
    expires_at: datetime


class Step(msgspec.Struct):
    id: Id
    alternative: Count
    text: str
    kind: Annotated[StepKind, about("The kind of step.")]
    critiques: Annotated[
        list[str], about("Critiques of the step, which the annotator rates if the project asks for it.")
    ]


class StepsAtPosition(msgspec.Struct):
    position: Count
    alternatives: Annotated[list[Step], about("The completions at this position.")]


class TaskSolution(msgspec.Struct):
    id: Id
    steps: Annotated[list[StepsAtPosition], about("The steps, in order.")]
    generator: Annotated[None, about("Always null for annotators.")] = None


class TaskProblem(msgspec.Struct):
    id: Id
    text: str
    domain: str
    reference_answer: Annotated[str | None, about("Null if the project hides it.")]
    reference_solution: Annotated[str | None, about("Null if the project hides it.")]


class StoredDraft(msgspec.Struct):
    version: Annotated[Count, about("The version of the draft, which the next save names.")]
    body: Annotated[JSONObject, about("The draft as the client saved it; the server does not read it.")]


class TaskHint(msgspec.Struct):
    """When the annotator sees the model's scores. Each score is fetched separately (`get_hint_score`)."""

    reveal: Annotated[Hint.Reveal, about("When the scores are shown.")]
    positions: Annotated[list[Count], about("Positions whose step has a score.")]


class Work(msgspec.Struct):
    """A solution to rate, with its problem and the label scheme."""

    solution: TaskSolution
    problem: TaskProblem
    scheme: LabelScheme

    @classmethod
    def of(cls, solution: Solution, project: Project, steps: Sequence[StepRow], **others: Any) -> Self:
        problem, scheme = solution.problem, project.label_scheme
        hidden = scheme.reference == "hidden"
        return cls(
            solution=TaskSolution(solution.pk, _steps(solution, steps, scheme)),
            problem=TaskProblem(
                id=problem.pk,
                text=problem.text,
                domain=problem.domain,
                reference_answer=None if hidden else problem.reference_answer,
                reference_solution=None if hidden else problem.reference_solution,
            ),
            scheme=scheme,
            **others,
        )


class Task(Work):
    """Everything the workbench needs for one solution. The lane is never included."""

    lease: TaskLease
    guidelines: Annotated[Count, about("Version of the guidelines that applies; 0 if there are none.")]
    hint: Annotated[TaskHint | None, about("Null if no score is shown, for any reason.")]
    draft: Annotated[StoredDraft | None, about("The saved draft; null for none.")]

    @classmethod
    def of_lease(cls, lease: Lease, project: Project, steps: Sequence[StepRow], *, guidelines: int) -> Self:
        draft, hint = getattr(lease, "draft", None), getattr(lease, "hint", None)
        return cls.of(
            lease.solution,
            project,
            steps,
            lease=TaskLease(lease.pk, lease.expires_at),
            guidelines=guidelines,
            hint=TaskHint(hint.reveal, hint.scored_positions) if hint and hint.shown else None,
            draft=StoredDraft(draft.version, draft.body) if draft else None,
        )


class ClaimAnswer(msgspec.Struct):
    task: Annotated[Task | None, about("The work for the annotator; null if there is none.")]
    reason: Annotated[Reason | None, about("Why there is no task; null if there is one.")]
    message: Annotated[str, about("Why there is no task, as a sentence for the annotator.")]
    retry_at: Annotated[datetime | None, about("When there may be work again; null if unknown.")]


def answer_claim(*, by: User, project: Project, holding: list[int]) -> ClaimAnswer:
    """Claim the person's next task."""
    claim = claim_next(by=by, project=project, holding=holding)
    lease = claim.lease
    task = Task.of_lease(lease, project, claim.steps, guidelines=claim.guidelines) if lease else None
    return ClaimAnswer(task, claim.reason, claim.message, claim.retry_at)


class ClaimNext(APIView):
    """The next task."""

    scopes = {"POST": "claim"}

    @extend_schema(operation_id="claim", request=Holding, responses=ClaimAnswer)
    def post(self, request: Request, slug: str) -> Response:
        """A solution that the caller has leased and `holding` does not name, else the next solution in the queue."""
        project = find_project(request.user, slug)
        holding = read_body(request, Holding).holding
        return Response(answer_claim(by=caller(request), project=project, holding=holding))


def _steps(solution: Solution, steps: Sequence[StepRow], scheme: LabelScheme) -> list[StepsAtPosition]:
    critiques = _critiques(solution.pk) if scheme.critique == "given" else {}
    return [
        StepsAtPosition(
            position,
            [Step(pk, alternative, text, kind, critiques.get(pk, [])) for _, alternative, pk, text, kind in here],
        )
        for position, here in groupby(steps, key=itemgetter(0))
    ]


def _critiques(solution: int) -> dict[int, list[str]]:
    """The imported critiques by the id of their step."""
    critiques = fetch_all(CRITIQUES, {"solution": solution})
    return {step: [text for _, text in rows] for step, rows in groupby(critiques, key=itemgetter(0))}
