"""Who did what, and what it was before and after."""

from typing import Any

from django.contrib.auth.models import User
from django.db import models

from annotation.models import AuditEntry, Project


def record(
    *,
    by: User | None,
    action: str,
    target: models.Model,
    project: Project | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> AuditEntry:
    """Append an audit row; call it inside the transaction of the change it tells of.

    `by` is None for what the platform does by itself (a sweep, a schedule).
    """
    return AuditEntry.objects.create(
        by=by,
        action=action,
        project=project,
        target_type=target._meta.model_name or "",
        target_id=str(target.pk),
        before=before or {},
        after=after or {},
    )
