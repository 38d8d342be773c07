"""The audit log: who changed what, with the state before and after. Some of its actions are events for webhooks."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone

from annotation.core.statements import fetch_all
from annotation.core.webhooks.events import EVENTS, announce
from annotation.models import Project
from prm.messages import Message, as_json

INTO = "INSERT INTO annotation_auditentry (project_id, by_id, action, target_type, target_id, before, after, at)"
INSERT = f"""
{INTO} VALUES (%(project)s, %(by)s, %(action)s, %(target_type)s, %(target_id)s, %(before)s, %(after)s, %(at)s)
"""


def insertion(target: str, *details: str) -> str:
    """The INSERT of `record` as a part of a statement with the values of `entry`. The part `target` has the `id`.

    The row also shows the `details`, columns of `target`.
    """
    pairs = ", ".join(f"'{name}', {target}.{name}" for name in details)
    after = f"%(after)s::jsonb || jsonb_build_object({pairs})" if details else "%(after)s::jsonb"
    return f"""
    {INTO} SELECT %(project)s, %(by)s, %(action)s, %(target_type)s, id::text, '{{}}', {after}, %(now)s FROM {target}
    """


def entry(*, by: User, action: str, kind: type[models.Model], after: dict[str, Any]) -> dict[str, Any]:
    """Values of `insertion`, besides `project` and `now`. The action must not be an event."""
    assert action not in EVENTS
    return {"by": by.pk, "action": action, "target_type": kind._meta.model_name, "after": json.dumps(after)}


def record(
    *,
    by: User | None,
    action: str,
    target: models.Model,
    project: Project | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    """Append an audit row; call it inside the transaction of the change.

    `by` is None for changes by the platform itself (a sweep, a schedule). A target that has a project, or is one, needs
    no `project`. A message is stored as its English text, and under `messages` with its code and values.
    """
    owner = target if isinstance(target, Project) else project
    project_id = owner.pk if owner else getattr(target, "project_id", None)
    fetch_all(
        INSERT,
        {
            "by": by and by.pk,
            "action": action,
            "project": project_id,
            "target_type": target._meta.model_name or "",
            "target_id": str(target.pk),
            "before": json.dumps(_with_messages(before or {})),
            "after": json.dumps(_with_messages(after or {})),
            "at": timezone.now(),
        },
    )
    announce(action=action, project_id=project_id, target=target, details=after or {})


def _with_messages(state: dict[str, Any]) -> dict[str, Any]:
    sentences = {name: as_json(value) for name, value in state.items() if isinstance(value, Message)}
    return state | {"messages": sentences} if sentences else state
