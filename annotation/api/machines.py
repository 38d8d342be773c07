"""The machine annotators of a project, and their tokens."""

from datetime import datetime
from typing import Annotated, ClassVar
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import Meta
from msgspec.structs import replace
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from annotation.api.authentication import caller
from annotation.api.boundary import Row, changes_of, read_body, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.tokens import IssuedToken, TokenRow
from annotation.core.bounds import Id, NonBlank, about
from annotation.core.membership.access import find_project
from annotation.core.membership.accounts import USERNAME_LENGTH
from annotation.core.membership.machines import (
    MachineSetup,
    add_machine,
    change_machine,
    find_machine,
    setup_of,
)
from annotation.core.membership.members import remove
from annotation.core.membership.tokens import issue_machine_token
from annotation.models import ApiToken, MachineAnnotator, Membership


class MachineRow(MachineSetup, Row, kw_only=True):
    """A machine annotator. Its labels' source kind is model judge."""

    paths: ClassVar[dict[str, str]] = {
        "id": "membership_id",
        "pseudonym": "membership.pseudonym",
        "name": "membership.name",
        "active": "membership.active",
        "joined_at": "membership.joined_at",
        "source": "source.name",
    }

    id: Annotated[Id, about("The membership's id.")]
    pseudonym: Annotated[UUID, about("The name in labels, snapshots and exports.")]
    name: Annotated[str, about("The name of the member and of its account.")]
    source: Annotated[str, about("The name of the source of its next labels.")]
    active: Annotated[bool, about("False for a retired machine annotator, whose labels stay.")]
    joined_at: Annotated[datetime, about("When it was added.")]


class MachineToAdd(MachineSetup, kw_only=True):
    """A machine annotator to add."""

    name: Annotated[NonBlank, Meta(max_length=USERNAME_LENGTH, description="A user name that no account has.")]


MachineSetupChanges = changes_of(MachineSetup)


class MachineTokenToIssue(msgspec.Struct):
    name: Annotated[NonBlank, Meta(max_length=100)]


class Machines(PagedView):
    """The machine annotators of a project."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_machines", responses=Page[MachineRow])
    def get(self, request: Request, slug: str) -> Response:
        """Present and retired machine annotators, in the order in which they were added. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        machines = MachineAnnotator.objects.filter(membership__project=project).order_by("pk")
        return self.page_of(machines.select_related("membership__user", "source"), request, MachineRow.of)

    @extend_schema(operation_id="add_machine", request=MachineToAdd, responses={201: MachineRow})
    def post(self, request: Request, slug: str) -> Response:
        """Add a machine annotator. Its account cannot sign in. Managers only."""
        project = find_project(request.user, slug)
        body = read_body(request, MachineToAdd)
        machine = add_machine(by=caller(request), project=project, name=body.name, setup=setup_of(body))
        return Response(MachineRow.of(machine), status=201)


class MachineDetail(APIView):
    """One machine annotator."""

    scopes = {"PATCH": "admin", "DELETE": "admin"}

    @extend_schema(operation_id="change_machine", request=MachineSetupChanges, responses=MachineRow)
    def patch(self, request: Request, slug: str, member_id: int) -> Response:
        """Change what labels. Another model or prompt version is another source of labels. Managers only."""
        machine = find_machine(by=caller(request), slug=slug, member_id=member_id)
        setup = replace(setup_of(machine), **sent_fields(read_body(request, MachineSetupChanges)))
        return Response(MachineRow.of(change_machine(by=caller(request), machine=machine, setup=setup)))

    @extend_schema(operation_id="retire_machine", responses={204: None})
    def delete(self, request: Request, slug: str, member_id: int) -> Response:
        """Retire a machine annotator: its tokens stop working and its labels stay. Managers only."""
        machine = find_machine(by=caller(request), slug=slug, member_id=member_id)
        remove(by=caller(request), membership=machine.membership)
        return Response(status=204)


class MachineTokens(PagedView):
    """The tokens of a machine annotator."""

    scopes = {"GET": "read", "POST": "admin"}

    @extend_schema(operation_id="list_machine_tokens", responses=Page[TokenRow])
    def get(self, request: Request, slug: str, member_id: int) -> Response:
        """The valid tokens of a machine annotator. Managers only."""
        machine = find_machine(by=caller(request), slug=slug, member_id=member_id)
        tokens = ApiToken.objects.filter(user=machine.membership.user, revoked_at__isnull=True)
        return self.page_of(tokens.order_by("pk"), request, TokenRow.of)

    @extend_schema(operation_id="issue_machine_token", request=MachineTokenToIssue, responses={201: IssuedToken})
    def post(self, request: Request, slug: str, member_id: int) -> Response:
        """Make a token of a machine annotator, which only claims and submits. Its secret is shown only once.

        Managers only.
        """
        machine = find_machine(by=caller(request), slug=slug, member_id=member_id)
        name = read_body(request, MachineTokenToIssue).name.strip()
        token, secret = issue_machine_token(by=caller(request), machine=machine, name=name)
        return Response(IssuedToken.of(token, secret=secret), status=201)
