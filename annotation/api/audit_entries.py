"""The audit log of a project."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar

from django.db.models import Q
from drf_spectacular.utils import extend_schema
from msgspec import UNSET, Meta, UnsetType
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.boundary import Row, read_query
from annotation.api.paging import Page, PagedView
from annotation.api.schema import query_of
from annotation.core.bounds import Id, JSONObject, about
from annotation.core.membership.access import find_project
from annotation.labels.list_filters import ListFilter
from annotation.models import Membership

Moment = Annotated[datetime, Meta(tz=True)]
PLATFORM = "(platform)"  # no user name has brackets


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


class AuditFilter(ListFilter, kw_only=True):
    """The changes in a project."""

    action: Annotated[str | UnsetType, about("The action.")] = UNSET
    by: Annotated[str | UnsetType, about(f"A user name, or `{PLATFORM}` for the platform itself.")] = UNSET
    target_type: Annotated[str | UnsetType, about("The kind of object.")] = UNSET
    target_id: Annotated[str | UnsetType, about("The id of the object.")] = UNSET
    since: Annotated[Moment | UnsetType, about("Changes from this time on (ISO 8601).")] = UNSET
    until: Annotated[Moment | UnsetType, about("Changes before this time (ISO 8601).")] = UNSET

    conditions = {
        "action": lambda action: Q(action=action),
        "by": lambda name: Q(by=None) if name == PLATFORM else Q(by__username=name),
        "target_type": lambda kind: Q(target_type=kind),
        "target_id": lambda pk: Q(target_id=pk),
        "since": lambda at: Q(at__gte=at),
        "until": lambda at: Q(at__lt=at),
    }

    def __post_init__(self) -> None:
        for name in ("since", "until"):
            if isinstance(at := getattr(self, name), datetime):
                setattr(self, name, _in_utc(at))


class Audit(PagedView):
    """The audit log of a project."""

    scopes = {"GET": "read"}

    @extend_schema(operation_id="list_audit", parameters=query_of(AuditFilter), responses=Page[AuditRow])
    def get(self, request: Request, slug: str) -> Response:
        """The changes in the project, latest first. Managers only."""
        project = find_project(request.user, slug, Membership.Role.MANAGER)
        rows = read_query(request, AuditFilter).narrow(project, project.audit_entries.select_related("by"))
        return self.page_of(rows, request, AuditRow.of)


def _in_utc(at: datetime) -> datetime:
    """The moment in UTC, because PostgreSQL knows no offset of 16 hours or more."""
    try:
        return at.astimezone(UTC)
    except OverflowError:  # at the ends of the calendar, where an offset selects nothing else
        return at.replace(tzinfo=UTC)
