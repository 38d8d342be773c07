"""What waits to be labelled, and a manager's changes to it."""

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.paging import PagedView
from annotation.core.errors import Missing
from annotation.core.membership.access import STAFF, find_project
from annotation.models import Membership, Project, QueueItem
from annotation.work.queue import managing
from prm.messages import Message


class QueueItemSerializer(serializers.ModelSerializer):
    generation = serializers.IntegerField(source="generation.number")
    assigned_to = serializers.CharField(
        source="assigned_to.user.username", default=None, allow_null=True, help_text="User name; null for all."
    )

    class Meta:
        model = QueueItem
        fields = (
            "id", "solution", "generation", "lane", "rank", "state", "wanted", "leased", "done", "pinned", "paused",
            "assigned_to", "inclusion_probability", "gain", "expected_seconds",
        )  # fmt: skip


class QueueChangeSerializer(serializers.Serializer):
    change = serializers.ChoiceField(
        list(managing.CHANGES), help_text="`hand` needs `to`; `front` and `end` keep the order."
    )
    items = serializers.ListField(child=serializers.IntegerField(), max_length=managing.MOST, allow_empty=False)
    to = serializers.CharField(required=False, help_text="User name of the member who is to have them.")


class QueueChangedSerializer(serializers.Serializer):
    changed = serializers.IntegerField(help_text="Items that are other than before; ended ones are left as they are.")


class QueuedSolutionSerializer(serializers.Serializer):
    solution = serializers.IntegerField(help_text="Of the pool.")
    to = serializers.CharField(required=False, help_text="User name of the member who is to have it.")


class QueueItems(PagedView):
    """The items of a project that wait or are in somebody's hands."""

    @extend_schema(operation_id="list_queue_items", responses=QueueItemSerializer(many=True))
    def get(self, request: Request, slug: str) -> Response:
        """In the order they are served; for reviewers and managers."""
        project = find_project(request.user, slug, *STAFF)
        items = project.queue_items.filter(state__in=managing.OPEN).select_related("generation", "assigned_to__user")
        return self.page_of(items.order_by("-pinned", "rank", "pk"), request, QueueItemSerializer)

    @extend_schema(
        operation_id="queue_solution", request=QueuedSolutionSerializer, responses={201: QueueItemSerializer}
    )
    def post(self, request: Request, slug: str) -> Response:
        """Ask for a label of a solution on top of what was drawn, before the rest. A manager may."""
        project = find_project(request.user, slug)
        given = QueuedSolutionSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        solution = project.solutions.filter(pk=given.validated_data["solution"]).first()
        if solution is None:
            raise Missing("solution_not_found", Message("solution_not_in_project", name=project.name))
        to = _member(project, given.validated_data.get("to"))
        item = managing.queue_solution(by=caller(request), project=project, solution=solution, to=to)
        return Response(QueueItemSerializer(item).data, status=201)


class ChangeQueue(APIView):
    """Changes of many items at once."""

    @extend_schema(operation_id="change_queue", request=QueueChangeSerializer, responses=QueueChangedSerializer)
    def post(self, request: Request, slug: str) -> Response:
        """Pin, pause, move or hand over items, and the reverse; all of them or none. A manager may."""
        project = find_project(request.user, slug)
        given = QueueChangeSerializer(data=request.data)
        given.is_valid(raise_exception=True)
        asked = given.validated_data
        to = _member(project, asked.get("to"))
        changed = managing.change_items(
            by=caller(request), project=project, change=asked["change"], items=asked["items"], to=to
        )
        return Response({"changed": changed})


def _member(project: Project, name: str | None) -> Membership | None:
    if name is None:
        return None
    member = Membership.objects.filter(project=project, user__username=name).select_related("user").first()
    if member is None:
        raise Missing("member_not_found", Message("member_name_not_found", name=project.name, member=name))
    return member
