"""The audit log of a project."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar

import msgspec
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row, read_query, sent_fields
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, JSONObject, about
from annotation.core.membership.access import find_project
from annotation.models import Membership

Moment = Annotated[datetime, Meta(tz=True)]


class AuditRow(Row):
    """A change: who made it, and the state before and after."""

    paths: ClassVar[dict[str, str]] = {"by": "by.username"}

    id: Annotated[Id, about("The entry's id; later entries have higher ids.")]
    at: Annotated[datetime, about("When it happened.")]
    by: Annotated[str | None, about("User name; null for the platform itself.")]
    action: Annotated[str, about("What was done, such as `snapshot.create`.")]
    target_type: Annotated[str, about("The kind of object, such as `snapshot`.")]
    target_id: Annotated[str, about("The id of the object.")]
    before: Annotated[JSONObject, about("The changed fields before.")]
    after: Annotated[JSONObject, about("The changed fields after.")]


class AuditQuery(msgspec.Struct):
    action: Annotated[str | UnsetType, about("The action.")] = UNSET
    by: Annotated[str | UnsetType, about("A user name.")] = UNSET
    target_type: Annotated[str | UnsetType, about("The kind of object.")] = UNSET
    target_id: Annotated[str | UnsetType, about("The id of the object.")] = UNSET
    since: Annotated[Moment | UnsetType, about("Changes from this time on (ISO 8601).")] = UNSET
    until: Annotated[Moment | UnsetType, about("Changes before this time (ISO 8601).")] = UNSET

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            if isinstance(at := getattr(self, name), datetime):
                setattr(self, name, _in_utc(at))


LOOKUPS = {"by": "by__username", "since": "at__gte", "until": "at__lt"}


class Audit(PagedView):
    """The audit log of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_audit", parameters=query_of(AuditQuery), responses=Page[AuditRow])
    def get(self, request: Request, slug: str) -> Response:
        """The changes in the project, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        chosen = {LOOKUPS.get(name, name): v for name, v in sent_fields(read_query(request, AuditQuery)).items()}
        return self.page_of(project.audit_entries.filter(**chosen).select_related("by"), request, AuditRow.of)


def _in_utc(at: datetime) -> datetime:
    """The moment in UTC, because PostgreSQL knows no offset of 16 hours or more."""
    try:
        return at.astimezone(UTC)
    except OverflowError:  # at the ends of the calendar, where an offset selects nothing else
        return at.replace(tzinfo=UTC)
