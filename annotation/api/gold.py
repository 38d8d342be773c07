"""Gold solutions, how people answer them, and who may label."""

from dataclasses import asdict

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.fields import IdField
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project, require_role, visible_projects
from annotation.models import GoldAnswer, Membership, Project, ScreeningDecision
from annotation.work.gold.designation import mark_gold, retire_gold
from annotation.work.gold.gold_accuracy import OUTCOMES
from annotation.work.gold.gold_answers import accuracy_by_person
from annotation.work.gold.screening import decide
from prm.messages import Message


class GoldSerializer(serializers.ModelSerializer):
    first_error = serializers.IntegerField(source="annotation.first_error", read_only=True, help_text="-1 for none.")

    class Meta:
        model = GoldAnswer
        fields = (
            "id",
            "solution",
            "annotation",
            "first_error",
            "accepted",
            "active",
            "practice",
            "explanation",
            "created_at",
        )
        read_only_fields = fields


class MarkSerializer(serializers.Serializer):
    annotation = IdField(help_text="The reference: of a reviewer or manager, an adjudication, or of people in a file.")
    accepted = serializers.ListField(
        child=serializers.IntegerField(min_value=-1, max_value=2**31 - 1),
        required=False,
        max_length=100,
        help_text="Other first errors that count as right: positions, -1 for none.",
    )
    practice = serializers.BooleanField(
        required=False, help_text="For every member to practise on, with its answer; false keeps it hidden."
    )
    explanation = serializers.CharField(
        required=False, allow_blank=True, max_length=4000, help_text="Why the first error is where it is, for practice."
    )


class RetireSerializer(serializers.Serializer):
    reason = serializers.CharField(required=False, allow_blank=True, max_length=500)


class ShareSerializer(serializers.Serializer):
    """A share of answers, with its 95 % interval."""

    count = serializers.IntegerField(min_value=0)
    of = serializers.IntegerField(min_value=0)
    value = serializers.FloatField(allow_null=True)
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class OutcomesSerializer(serializers.Serializer):
    """How many answers were right, and what was wrong with the others."""

    def get_fields(self) -> dict[str, serializers.Field]:
        return {outcome: serializers.IntegerField(min_value=0) for outcome in OUTCOMES}


class GoldAccuracySerializer(serializers.Serializer):
    member = IdField()
    username = serializers.CharField()
    right = ShareSerializer(help_text="Within the project's tolerance.")
    exact = ShareSerializer()
    within_one = ShareSerializer()
    presence = ShareSerializer(help_text="Whether there is an error at all.")
    outcomes = OutcomesSerializer()


class ScreeningDecisionSerializer(serializers.ModelSerializer):
    by = serializers.SerializerMethodField(help_text="Null for the policy.")

    class Meta:
        model = ScreeningDecision
        fields = ("id", "outcome", "reason", "right", "given", "by", "decided_at")
        read_only_fields = fields

    def get_by(self, decision: ScreeningDecision) -> str | None:
        return decision.by.username if decision.by else None


class ScreenSerializer(serializers.Serializer):
    outcome = serializers.ChoiceField(ScreeningDecision.Outcome.choices)
    reason = serializers.CharField(required=False, allow_blank=True, max_length=500)


class Gold(PagedView):
    """The solutions whose first error is known."""

    @extend_schema(operation_id="list_gold", request=None, responses=GoldSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Gold in use and retired, the latest first; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        rows = project.gold_answers.select_related("annotation").order_by("-pk")
        return self.page_of(rows, request, GoldSerializer)

    @extend_schema(operation_id="mark_gold", request=MarkSerializer, responses={201: GoldSerializer})
    def post(self, request: Request, slug: str) -> Response:
        """Make a solution gold by one of its labels; reviewers and managers may."""
        project = find_project(request.user, slug)
        given = MarkSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        gold = mark_gold(
            by=caller(request),
            project=project,
            annotation_id=given.validated_data["annotation"],
            accepted=given.validated_data.get("accepted", []),
            practice=given.validated_data.get("practice", False),
            explanation=given.validated_data.get("explanation", ""),
        )
        return Response(GoldSerializer(gold).data, status=201)


class RetireGold(APIView):
    """Gold that is no longer used."""

    @extend_schema(operation_id="retire_gold", request=RetireSerializer, responses=GoldSerializer)
    def post(self, request: Request, gold_id: int) -> Response:
        """Let a gold solution be an ordinary one again; reviewers and managers may."""
        visible = GoldAnswer.objects.filter(project__in=visible_projects(request.user))
        gold = visible.select_related("project", "annotation").filter(pk=gold_id).first()
        if gold is None:
            raise Missing("gold_not_found", Message("gold_not_found"))
        given = RetireSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        retired = retire_gold(by=caller(request), gold=gold, reason=given.validated_data.get("reason", ""))
        return Response(GoldSerializer(retired).data)


class GoldAccuracy(APIView):
    """How well people answer hidden gold."""

    @extend_schema(operation_id="list_gold_accuracy", request=None, responses=GoldAccuracySerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """Of each person who answered some, by name; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        found = accuracy_by_person(project)
        people = project.memberships.filter(pk__in=found).select_related("user").order_by("user__username")
        return Response([{"member": one.pk, "username": one.user.username, **asdict(found[one.pk])} for one in people])


class ScreeningDecisions(PagedView):
    """Whether a person may label."""

    @extend_schema(
        operation_id="list_screening_decisions", request=None, responses=ScreeningDecisionSerializer(many=True)
    )
    def get(self, request: Request, slug: str, member_id: int) -> Response:
        """What was decided on a person, the latest first; for reviewers and managers."""
        person = _find_person(find_project(request.user, slug, *STAFF), member_id)
        rows = person.screening_decisions.select_related("by").order_by("-pk")
        return self.page_of(rows, request, ScreeningDecisionSerializer)

    @extend_schema(
        operation_id="decide_screening", request=ScreenSerializer, responses={201: ScreeningDecisionSerializer}
    )
    def post(self, request: Request, slug: str, member_id: int) -> Response:
        """Let a person label, screen them, or keep them from labelling. A manager may."""
        project = find_project(request.user, slug)
        require_role(request.user, project, Membership.Role.MANAGER)
        person = _find_person(project, member_id)
        given = ScreenSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        decision = decide(by=caller(request), membership=person, **given.validated_data)
        return Response(ScreeningDecisionSerializer(decision).data, status=201)


def _find_person(project: Project, member_id: int) -> Membership:
    person = project.memberships.select_related("project").filter(pk=member_id).first()
    if person is None:
        raise Missing("member_not_found", Message("project_member_not_found"))
    return person
