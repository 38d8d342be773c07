"""The queue and a manager's changes to it."""

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
from annotation.core.bounds import Count, Id, about, one_of
from annotation.core.membership.access import STAFF, find_project
from annotation.core.reading import find_row
from annotation.models import OPEN, Lane, Membership, Project, QueueItem, Route, Taker
from annotation.work.queue import managing
from prm.messages import Message


class QueueItemRow(Row):
    paths: ClassVar[dict[str, str]] = {"generation": "generation.number", "assigned_to": "assigned_to.name"}

    id: Id
    solution: Id
    generation: int
    lane: Lane
    rank: Annotated[Count, about("Served in ascending order.")]
    state: QueueItem.State
    route: Annotated[Route, about("Who labels it: a person, a judge, or a judge and then a person if needed.")]
    taker: Annotated[Taker, about("Who may lease it now.")]
    handed_over: Annotated[str, about("Why a person labels an item of a judge's route; empty while none does.")]
    predicted_error: Annotated[
        float | None, about("The champion's probability of an error when the route was chosen; null for none.")
    ]
    wanted: Annotated[Count, about("Number of labels that are wanted.")]
    leased: Annotated[Count, about("Number of places that are leased.")]
    done: Annotated[Count, about("Number of submitted labels.")]
    pinned: bool
    paused: Annotated[bool, about("Whether it is leased to nobody for now.")]
    assigned_to: Annotated[str | None, about("User name of the only member who may label it, or null.")]
    inclusion_probability: Annotated[
        float | None, about("The probability of drawing the solution; null if it was not drawn at random.")
    ]
    gain: Annotated[float | None, about("Expected information, in nats; null if unknown.")]
    expected_seconds: Annotated[float | None, about("Expected labelling time, in seconds; null if unknown.")]


class QueueChange(msgspec.Struct):
    change: Annotated[
        str,
        one_of(managing.CHANGES),
        about("`hand` requires `to`; `front` and `end` keep the order."),
    ]
    items: Annotated[list[Id], Meta(min_length=1, max_length=managing.MOST), about("The ids of the items to change.")]
    to: Annotated[str | None, about("User name of the member who gets the items.")] = None


class QueueChanged(msgspec.Struct):
    changed: Annotated[int, about("Items that changed; ended items stay unchanged.")]


class HandedOver(msgspec.Struct):
    handed_over: Annotated[Count, about("Items that now wait for a person.")]


class SolutionToQueue(msgspec.Struct):
    solution: Annotated[Id, about("A solution in the pool.")]
    to: Annotated[str | None, about("User name of the member who gets the item.")] = None


class QueueItems(PagedView):
    """The items of a project that wait or are leased."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_queue_items", responses=Page[QueueItemRow])
    def get(self, request: Request, slug: str) -> Response:
        """Queue items in the order in which they are served. Reviewers and managers only."""
        project = find_project(request.user, slug, *STAFF)
        items = project.queue_items.filter(OPEN).select_related("generation", "assigned_to__user")
        return self.page_of(items.order_by("-pinned", "rank", "pk"), request, QueueItemRow.of)

    @extend_schema(operation_id="queue_solution", request=SolutionToQueue, responses={201: QueueItemRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add a solution to the front of the queue, beyond the generation's draw. Managers only."""
        project = find_project(request.user, slug)
        body = read_body(request, SolutionToQueue)
        otherwise = Message("solution_not_in_project", name=project.name)
        solution = find_row(project.solutions.filter(pk=body.solution), otherwise, code="solution_not_found")
        to = _member(project, body.to)
        item = managing.queue_solution(by=caller(request), project=project, solution=solution, to=to)
        return Response(QueueItemRow.of(item), status=201)


class ChangeQueue(APIView):
    """Changing many items at once."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="change_queue", request=QueueChange, responses=QueueChanged)
    def post(self, request: Request, slug: str) -> Response:
        """Pin, pause, move or assign items, or undo it. Changes all items or none. Managers only."""
        project = find_project(request.user, slug)
        body = read_body(request, QueueChange)
        to = _member(project, body.to)
        changed = managing.change_items(
            by=caller(request), project=project, change=body.change, items=body.items, to=to
        )
        return Response(QueueChanged(changed))


class HandOverQueue(APIView):
    """Handing the items that wait for machines to people."""

    scopes = {"POST": "admin"}

    @extend_schema(operation_id="hand_over_queue", request=None, responses=HandedOver)
    def post(self, request: Request, slug: str) -> Response:
        """Give all items that wait for a machine to people; items that a machine holds stay. Managers only."""
        project = find_project(request.user, slug)
        return Response(HandedOver(managing.hand_over_waiting(by=caller(request), project=project)))


def _member(project: Project, name: str | None) -> Membership | None:
    if name is None:
        return None
    members = Membership.objects.filter(project=project, user__username=name).select_related("user")
    otherwise = Message("member_name_not_found", name=project.name, member=name)
    return find_row(members, otherwise, code="member_not_found")
