"""Leases: heartbeat, release and expiry."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import DEFAULT_DB_ALIAS, transaction
from django.utils import timezone

from annotation.core import audit
from annotation.core.errors import Conflict, Forbidden, Missing
from annotation.core.statements import columns, fetch_all, fetch_one, instances
from annotation.models import AuditEntry, Generation, Lease, Membership, Project, QueueItem
from annotation.work.queue.items import lock_items, save_places, settle
from annotation.work.queue.rules import taker_of
from prm.messages import Message

SWEEP_AT_MOST = 1000

# In each row, the item is locked before the lease.
LOCK = f"""
SELECT {columns(Lease)}, {columns(QueueItem)}
FROM annotation_lease JOIN annotation_queueitem ON annotation_queueitem.id = annotation_lease.item_id
WHERE annotation_lease.annotator_id = %(annotator)s AND annotation_lease.solution_id = %(solution)s
FOR NO KEY UPDATE OF annotation_queueitem, annotation_lease
"""

# Read after the item is locked: the lock may have waited for the replacement of the generation.
STATE = "(SELECT state FROM annotation_generation WHERE id = %(generation)s)"

# Parts of a statement with the values of `close_lease`, under a further condition.
CLOSE = """places AS (
    UPDATE annotation_queueitem SET wanted = %(wanted)s, leased = %(leased)s, done = %(done)s, state = %(item_state)s
    WHERE id = %(item)s AND {condition}
), ended AS (
    UPDATE annotation_lease SET state = %(lease_state)s, reason = %(lease_reason)s, ended_at = %(ended_at)s
    WHERE id = %(lease)s AND {condition}
), undrafted AS (
    DELETE FROM annotation_draft WHERE lease_id = %(lease)s AND {condition}
)"""


@transaction.atomic
def heartbeat(*, by: User, lease_id: int) -> datetime:
    """Extend a lease to its full time from now; returns when it expires.

    An expired lease becomes active again if its item still has a place. Raises Missing, Forbidden,
    Conflict (`lease_expired`, although a submission is still accepted; `lease_ended`).
    """
    lease, item = lock_lease(by=by, lease_id=lease_id)
    now = timezone.now()
    if (
        lease.state == Lease.State.EXPIRED
        and item.state == QueueItem.State.READY
        and item.taker == taker_of(lease.annotator)
    ):
        item.leased += 1
        save_places([item])
        lease.state, lease.ended_at = Lease.State.ACTIVE, None
        audit.record(
            by=by,
            action="lease.renew",
            target=lease,
            project=item.project,
            before={"state": Lease.State.EXPIRED},
            after={"state": lease.state},
        )
    elif lease.state == Lease.State.EXPIRED:
        raise Conflict(Message("lease_expired"))
    elif lease.state != Lease.State.ACTIVE:
        raise Conflict(Message("lease_ended"), {"state": lease.state})
    lease.expires_at = now + timedelta(minutes=item.project.policies.queue.lease_minutes)
    lease.save(update_fields=["state", "ended_at", "expires_at"])
    return lease.expires_at


@transaction.atomic
def release(*, by: User, lease_id: int, reason: str = "") -> None:
    """Skip a solution, even after its lease expired: free the place, and never lease the solution to this person again.

    A second time changes nothing, so that a page can retry. Raises Missing, Forbidden, Conflict (`lease_ended`) after a
    submission.
    """
    lease, item = lock_lease(by=by, lease_id=lease_id)
    if lease.state == Lease.State.RELEASED:
        return
    if lease.state == Lease.State.SUBMITTED:
        raise Conflict(Message("submitted_already"), {"state": lease.state}, code="lease_ended")
    before, lease.reason = lease.state, reason
    end_lease(lease, item, Lease.State.RELEASED)
    audit.record(
        by=by,
        action="lease.release",
        target=lease,
        project=item.project,
        before={"state": before},
        after={"state": lease.state, "reason": reason},
    )


@transaction.atomic
def expire_leases(*, project: Project | None = None) -> int:
    """Expire overdue leases, at most SWEEP_AT_MOST; returns how many. Drafts stay.

    Celery beat calls it, and so does a claim, for its project, before it reports that nothing is left.
    """
    overdue = Lease.objects.filter(state=Lease.State.ACTIVE, expires_at__lt=timezone.now())
    if project is not None:
        overdue = overdue.filter(item__project=project)
    candidates = list(overdue.order_by("expires_at").values_list("pk", "item_id")[:SWEEP_AT_MOST])
    if not candidates:
        return 0
    items = lock_items({item for _, item in candidates})
    # Read again under the lock: a submission or a heartbeat may have come first.
    expired = list(
        overdue.select_for_update(no_key=True, of=("self",))
        .filter(pk__in=[lease for lease, _ in candidates], item_id__in=[item.pk for item in items])
        .order_by("pk")
    )
    freed = Counter(lease.item_id for lease in expired)
    changed = [item for item in items if freed[item.pk]]
    for item in changed:
        item.leased -= freed[item.pk]
    save_places(changed)
    now = timezone.now()
    Lease.objects.filter(pk__in=[lease.pk for lease in expired]).update(state=Lease.State.EXPIRED, ended_at=now)
    projects = {item.pk: item.project_id for item in changed}
    AuditEntry.objects.bulk_create(
        AuditEntry(
            action="lease.expire",
            project_id=projects[lease.item_id],
            target_type="lease",
            target_id=str(lease.pk),
            before={"state": "active", "claimed_at": lease.claimed_at.isoformat()},
            after={"state": "expired"},
        )
        for lease in expired
    )
    return len(expired)


def find_lease(*, by: User, lease_id: int) -> Lease:
    """The person's lease, unlocked.

    Raises Missing (`lease_not_found`), Forbidden if the lease is another person's (`lease_of_another`) or the person's
    membership has ended (`not_annotator`).
    """
    lease = Lease.objects.select_related("annotator").filter(pk=lease_id).first()
    if lease is None:
        raise Missing(Message("lease_not_found"))
    if lease.annotator.user_id != by.pk:
        raise Forbidden(Message("lease_of_another"))
    _check_active(lease.annotator)
    return lease


def _check_active(membership: Membership) -> None:
    if not membership.active:
        raise Forbidden(Message("no_longer_member"), code="not_annotator")


def lock_lease(*, by: User, lease_id: int) -> tuple[Lease, QueueItem]:
    """The person's lease and its item, locked until the transaction ends. Raises as `find_lease`."""
    unlocked = find_lease(by=by, lease_id=lease_id)
    membership = Membership.objects.select_for_update(no_key=True).get(pk=unlocked.annotator_id)
    _check_active(membership)
    held = lock_held(annotator=membership, solution=unlocked.solution_id)
    if held is None:
        raise Missing(Message("lease_not_found"))
    return held


def lock_held(*, annotator: Membership, solution: int) -> tuple[Lease, QueueItem] | None:
    """The person's lease on a solution and its item; the item is locked before the lease.

    The caller has locked the membership, as a renewal does, which can move the lease to another item.
    """
    held = lock_rows(annotator=annotator, solution=solution)
    if held is not None:
        [(state,)] = fetch_all(f"SELECT {STATE}", {"generation": held[1].generation_id})
        set_generation(held[1], state)
    return held


def lock_rows(*, annotator: Membership, solution: int) -> tuple[Lease, QueueItem] | None:
    """As `lock_held`, for callers that read the `STATE` of the item's generation themselves."""
    row = fetch_one(LOCK, {"annotator": annotator.pk, "solution": solution})
    if row is None:
        return None
    lease, item = instances(row, Lease, QueueItem)
    return lease, item


def set_generation(item: QueueItem, state: str) -> None:
    """Give a locked item its generation in this state; further fields would be fetched."""
    item.generation = Generation.from_db(DEFAULT_DB_ALIAS, ["id", "state"], [item.generation_id, state])


def end_lease(lease: Lease, item: QueueItem, state: Lease.State) -> None:
    """End a lease that `lock_held` has locked: free its place, and delete its draft."""
    fetch_all(f"WITH {CLOSE.format(condition='TRUE')} SELECT", close_lease(lease, item, state))


def close_lease(lease: Lease, item: QueueItem, state: Lease.State, *, done: bool = False) -> dict[str, Any]:
    """End a locked lease without storing it: free its place or mark it as done; returns the values of `CLOSE`."""
    held = lease.state == Lease.State.ACTIVE
    item.leased, item.done = item.leased - held, item.done + done
    if held or done:
        settle(item)
    if lease.state != state:
        lease.state, lease.ended_at = state, timezone.now()
    return {
        "item": item.pk,
        "wanted": item.wanted,
        "leased": item.leased,
        "done": item.done,
        "item_state": item.state,
        "lease": lease.pk,
        "lease_state": lease.state,
        "lease_reason": lease.reason,
        "ended_at": lease.ended_at,
    }
