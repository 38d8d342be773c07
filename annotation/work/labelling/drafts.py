"""Saves drafts: unsubmitted work, every few seconds."""

import json
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core.errors import Conflict, DomainError
from annotation.models import Annotation, Draft, Lease
from annotation.work.queue.leases import lock_lease
from prm.messages import Message

LARGEST = 1_000_000  # characters of JSON


@transaction.atomic
def save_draft(*, by: User, lease_id: int, version: int, body: dict[str, Any], based_on: int = 0) -> Draft:
    """Store a draft; `version` is the stored version that the page has seen, 0 for none.

    The stored version grows by one. An expired lease still accepts drafts; a submitted one accepts drafts of a revision
    that is based on the latest (`based_on`). Raises Missing, Forbidden, DomainError (`invalid_draft`: too large),
    Conflict (`lease_ended`; `draft_conflict` if another tab has saved since, with the stored version and body in
    `extra`).
    """
    if len(json.dumps(body)) > LARGEST:
        raise DomainError(Message("invalid_draft", largest=f"{LARGEST:,}"), {"field": "body"})
    lease, _item = lock_lease(by=by, lease_id=lease_id)
    if lease.state == Lease.State.RELEASED or (
        lease.state == Lease.State.SUBMITTED and based_on != _latest_revision(lease)
    ):
        raise Conflict(Message("lease_ended"), {"state": lease.state})
    draft = Draft.objects.filter(lease=lease).first()
    if draft is None:
        return Draft.objects.create(lease=lease, version=version + 1, body=body)
    if draft.body == body and version <= draft.version:
        return draft
    if version < draft.version:
        raise Conflict(Message("draft_conflict"), {"version": draft.version, "body": draft.body})
    draft.version, draft.body = version + 1, body
    draft.save(update_fields=["version", "body", "saved_at"])
    return draft


def _latest_revision(lease: Lease) -> int | None:
    own = Annotation.objects.filter(annotator=lease.annotator_id, solution=lease.solution_id)
    return own.order_by("-revision").values_list("revision", flat=True).first()
