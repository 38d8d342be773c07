"""The next task of an annotator."""

from itertools import groupby
from operator import itemgetter
from typing import Any

import msgspec
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import IdField
from annotation.api.label_schemes import SchemeSerializer
from annotation.core.membership.access import find_project
from annotation.core.statements import fetch_all
from annotation.models import Hint, Lease, Project, Solution
from annotation.work.claiming import claim_next
from prm.vocabulary import STEP_KINDS

CRITIQUES = """
SELECT critique.step_id, critique.text FROM annotation_critique critique
JOIN annotation_step step ON step.id = critique.step_id
WHERE step.solution_id = %(solution)s ORDER BY critique.step_id, critique.ordinal
"""
STEPS = """
SELECT position, alternative, id, text, kind FROM annotation_step
WHERE solution_id = %(solution)s ORDER BY position, alternative
"""


class HoldingSerializer(serializers.Serializer):
    holding = serializers.ListField(
        child=IdField(), required=False, max_length=100, help_text="Leases that the page has in hand already."
    )


class LeaseSerializer(serializers.Serializer):
    id = IdField()
    expires_at = serializers.DateTimeField()


class StepSerializer(serializers.Serializer):
    id = IdField()
    alternative = serializers.IntegerField(min_value=0)
    text = serializers.CharField()
    kind = serializers.ChoiceField(STEP_KINDS)
    critiques = serializers.ListField(
        child=serializers.CharField(), help_text="What is said to be wrong with it, to be rated where the project asks."
    )


class PositionSerializer(serializers.Serializer):
    position = serializers.IntegerField(min_value=0)
    alternatives = StepSerializer(many=True)


class TaskSolutionSerializer(serializers.Serializer):
    id = IdField()
    steps = PositionSerializer(many=True)
    generator = serializers.CharField(allow_null=True, help_text="Not told to annotators: always null.")


class TaskProblemSerializer(serializers.Serializer):
    id = IdField()
    text = serializers.CharField()
    domain = serializers.CharField()
    reference_answer = serializers.CharField(allow_null=True, help_text="Null where the project hides it.")
    reference_solution = serializers.CharField(allow_null=True, help_text="Null where the project hides it.")


class StoredDraftSerializer(serializers.Serializer):
    version = serializers.IntegerField(min_value=0)
    body = serializers.DictField(child=serializers.JSONField())


class HintSerializer(serializers.Serializer):
    """When a person sees the model's scores. The scores themselves come one at a time (`get_hint_score`)."""

    reveal = serializers.ChoiceField(Hint.Reveal.choices)
    positions = serializers.ListField(
        child=serializers.IntegerField(min_value=0), help_text="The positions whose step has a score."
    )


class WorkSerializer(serializers.Serializer):
    """A solution to judge, with its problem and how it is rated."""

    solution = TaskSolutionSerializer()
    problem = TaskProblemSerializer()
    scheme = SchemeSerializer()


class TaskSerializer(WorkSerializer):
    """All that the workbench needs for one solution; the lane is never told."""

    lease = LeaseSerializer()
    hint = HintSerializer(allow_null=True, help_text="Null where none is shown, whatever the reason.")
    draft = StoredDraftSerializer(allow_null=True)


class ClaimSerializer(serializers.Serializer):
    task = TaskSerializer(allow_null=True)
    reason = serializers.ChoiceField(
        [
            "done",
            "all_leased",
            "not_annotator",
            "holding_enough",
            "paused",
            "screening_failed",
            "screening_unready",
            "cap_reached",
            "cooling_down",
            "not_qualified",
        ],
        allow_null=True,
    )
    message = serializers.CharField(help_text="Why there is no task, for the person.")
    retry_at = serializers.DateTimeField(
        allow_null=True, help_text="When there may be work again; null where nobody knows."
    )


class ClaimNext(APIView):
    """The next task."""

    @extend_schema(operation_id="claim", request=HoldingSerializer, responses=ClaimSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """What the caller has in hand beside `holding`, else the next solution of the queue."""
        project = find_project(request.user, slug)
        given = HoldingSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        claim = claim_next(by=caller(request), project=project, holding=given.validated_data.get("holding", []))
        return Response(
            {
                "task": task_of(claim.lease, project) if claim.lease else None,
                "reason": claim.reason,
                "message": claim.message,
                "retry_at": claim.retry_at,
            }
        )


def task_of(lease: Lease, project: Project) -> dict[str, Any]:
    """The `Task` of a lease, as `TaskSerializer` describes it."""
    draft, hint = getattr(lease, "draft", None), getattr(lease, "hint", None)
    return {
        "lease": {"id": lease.pk, "expires_at": lease.expires_at},
        **work_of(lease.solution, project),
        "hint": {"reveal": hint.reveal, "positions": hint.scored_positions} if hint and hint.shown else None,
        "draft": {"version": draft.version, "body": draft.body} if draft else None,
    }


def work_of(solution: Solution, project: Project) -> dict[str, Any]:
    """What there is to judge, as `WorkSerializer` describes it."""
    problem, scheme = solution.problem, project.label_scheme
    hidden = scheme.reference == "hidden"
    steps = fetch_all(STEPS, {"solution": solution.pk})
    critiques = _critiques(solution.pk) if scheme.critique == "given" else {}
    return {
        "solution": {
            "id": solution.pk,
            "steps": [
                {"position": position, "alternatives": [_alternative(critiques, *step) for step in here]}
                for position, here in groupby(steps, key=itemgetter(0))
            ],
            "generator": None,
        },
        "problem": {
            "id": problem.pk,
            "text": problem.text,
            "domain": problem.domain,
            "reference_answer": None if hidden else problem.reference_answer,
            "reference_solution": None if hidden else problem.reference_solution,
        },
        "scheme": msgspec.to_builtins(scheme),
    }


def _critiques(solution: int) -> dict[int, list[str]]:
    """The given critiques by the id of their step."""
    found = fetch_all(CRITIQUES, {"solution": solution})
    return {step: [text for _, text in rows] for step, rows in groupby(found, key=itemgetter(0))}


def _alternative(
    critiques: dict[int, list[str]], _position: int, alternative: int, step: int, text: str, kind: str
) -> dict[str, Any]:
    return {"id": step, "alternative": alternative, "text": text, "kind": kind, "critiques": critiques.get(step, [])}
