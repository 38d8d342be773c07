"""The members of a project."""

from datetime import datetime
from typing import Annotated, Any, ClassVar, Self
from uuid import UUID

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row, read_query, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Count, Id, about
from annotation.core.membership.access import find_project
from annotation.labels.labour.statistics import members_with_figures
from annotation.models import Membership, ScreeningDecision
from annotation.models.choices import MemberKind, Role


class PersonRow(Row):
    """A member with their work. Other resources name members by pseudonym only."""

    paths: ClassVar[dict[str, str]] = {"username": "user.username", "screening": "decision"}

    id: Annotated[Id, about("The membership's id.")]
    pseudonym: Annotated[UUID, about("The name in labels, snapshots and exports.")]
    username: Annotated[str | None, about("The user name; null without an account.")]
    name_in_file: Annotated[
        str | None, about("The name in the file that the labels came in; null for a person with an account.")
    ]
    role: Annotated[Role, about("The role in the project.")]
    active: Annotated[bool, about("False for a former member, whose labels stay.")]
    kind: Annotated[MemberKind, about("A person, a machine, or a simulated person.")]
    domains: Annotated[list[str] | None, about("The domains that they label; null for all.")]
    labels: Annotated[Count, about("Number of labels, without earlier revisions.")]
    median_seconds: Annotated[float | None, about("Median active time per label; null if unknown.")]
    screening: Annotated[ScreeningDecision.Outcome | None, about("The latest decision on labelling; null for none.")]
    joined_at: Annotated[datetime, about("When they joined.")]

    @classmethod
    def of(cls, row: Any, **others: Any) -> Self:
        seconds = None if row.median_ms is None else row.median_ms / 1000
        return super().of(row, labels=row.labels or 0, median_seconds=seconds, **others)


class PeopleQuery(msgspec.Struct):
    active: Annotated[bool | UnsetType, about("Only present, or only former members.")] = UNSET
    kind: Annotated[MemberKind | UnsetType, about("Only members of this kind.")] = UNSET


class People(PagedView):
    """The members of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_people", parameters=query_of(PeopleQuery), responses=Page[PersonRow])
    def get(self, request: Request, slug: str) -> Response:
        """Present and former members, in the order in which they joined. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        rows = members_with_figures(project).filter(**sent_fields(read_query(request, PeopleQuery)))
        return self.page_of(rows.order_by("pk"), request, PersonRow.of)
