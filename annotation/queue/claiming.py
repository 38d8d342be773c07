"""The next task of an annotator: what they already hold, else the next item with a free place."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import Exists, Min, OuterRef, Q
from django.utils import timezone

from annotation import audit
from annotation.models import Generation, Lease, Membership, Project, QueueItem
from annotation.queue import hidden
from annotation.queue.leases import expire_leases


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A lease, or the reason why there is none: done, all_leased, not_annotator, holding_enough, paused,
    screening_failed, screening_unready.

    `message` is for the annotator; `retry_at` is when the first place may become free.
    """

    lease: Lease | None = None
    reason: str | None = None
    message: str = ""
    retry_at: datetime | None = None
    resumed: bool = False


# One statement finds the first item with a place that this person never had, takes a place, and leases it.
# What a person has had is what they have a lease row for: nobody can submit without one. SKIP LOCKED passes
# over items that another claim is taking at this moment; an expired lease of the same person on the same
# solution is renewed in its row.
TAKE_NEXT = """
WITH next AS (
    SELECT item.id
    FROM annotation_queueitem item
    WHERE item.project_id = %(project)s AND item.state = 'ready' AND NOT item.paused AND {whose}
      AND NOT EXISTS (
          SELECT 1 FROM annotation_lease lease
          WHERE lease.annotator_id = %(annotator)s AND lease.solution_id = item.solution_id
            AND lease.state <> 'expired')
    ORDER BY item.rank, item.id
    LIMIT 1
    FOR NO KEY UPDATE OF item {wait}
), taken AS (
    UPDATE annotation_queueitem item
    SET leased = item.leased + 1,
        state = CASE WHEN item.leased + 1 + item.done >= item.wanted THEN 'full' ELSE 'ready' END
    FROM next WHERE item.id = next.id
    RETURNING item.id, item.solution_id
)
INSERT INTO annotation_lease (item_id, solution_id, annotator_id, state, reason, claimed_at, expires_at)
SELECT taken.id, taken.solution_id, %(annotator)s, 'active', '', %(now)s, %(expires)s FROM taken
ON CONFLICT (annotator_id, solution_id) DO UPDATE
SET item_id = EXCLUDED.item_id, state = 'active', reason = '', claimed_at = EXCLUDED.claimed_at,
    expires_at = EXCLUDED.expires_at, ended_at = NULL
RETURNING id
"""
# What a manager has laid before this person comes first, then what is pinned for all, then the rest.
WHOSE = (
    "item.assigned_to_id = %(annotator)s",
    "item.assigned_to_id IS NULL AND item.pinned",
    "item.assigned_to_id IS NULL",
)
TAKE_FREE = [TAKE_NEXT.format(whose=whose, wait="SKIP LOCKED") for whose in WHOSE]
TAKE_WAITING = [TAKE_NEXT.format(whose=whose, wait="") for whose in WHOSE]


def claim_next(*, by: User, project: Project, holding: list[int]) -> Claim:
    """The oldest lease of the person that is not in `holding` (ids their page has in hand), else a new one.

    At most `1 + prefetch_depth` leases are active per person. Whoever is an active member may label.
    """
    claim = _attempt(TAKE_FREE, by=by, project=project, holding=holding)
    if claim.reason not in {"all_leased", "done"}:
        return claim
    # Before saying that nothing is left: take back what nobody works on any more, and wait for the items
    # that others are locking at this moment. In transactions of their own, so that no lock waits on another.
    expire_leases(project=project)
    return _attempt(TAKE_WAITING, by=by, project=project, holding=holding)


@transaction.atomic
def _attempt(statements: list[str], *, by: User, project: Project, holding: list[int]) -> Claim:
    membership = Membership.objects.select_for_update(no_key=True).filter(project=project, user=by, active=True).first()
    if membership is None:
        return Claim(reason="not_annotator", message="You are not a member of this project, so you cannot label in it.")
    policy = project.policies
    now = timezone.now()
    expires = now + timedelta(minutes=policy.lease_minutes)
    in_hand = Lease.objects.filter(annotator=membership, state=Lease.State.ACTIVE).order_by("claimed_at", "id")
    held = list(in_hand.values_list("pk", flat=True))
    for lease_id in held:
        # The sweep may be expiring it at this moment: the row decides.
        if lease_id not in holding and in_hand.filter(pk=lease_id).update(expires_at=expires):
            return Claim(lease=_with_work(lease_id), resumed=True)
    if project.state == Project.State.PAUSED:
        return Claim(reason="paused", message="This project is paused: its manager will open it again.")
    if len(held) > policy.prefetch_depth:
        return Claim(reason="holding_enough", message="Finish what you have first.")
    membership.project = project
    first = hidden.give(membership, now=now, until=expires)
    if first is not None and first.lease is None:
        return Claim(reason=first.reason, message=first.message)
    taken = first.lease if first else _take(statements, membership, now, expires)
    if taken is None:
        return _nothing(project, membership)
    lease = _with_work(taken)
    audit.record(
        by=by,
        action="lease.claim",
        target=lease,
        project=project,
        after={"item": lease.item_id, "solution": lease.solution_id, "expires_at": expires.isoformat()},
    )
    return Claim(lease=lease)


def _take(statements: list[str], membership: Membership, now: datetime, expires: datetime) -> int | None:
    given: dict[str, Any] = {
        "project": membership.project_id,
        "annotator": membership.pk,
        "now": now,
        "expires": expires,
    }
    with connection.cursor() as cursor:
        for statement in statements:
            cursor.execute(statement, given)
            if taken := cursor.fetchone():
                return int(taken[0])
    return None


def _with_work(lease_id: int) -> Lease:
    return Lease.objects.select_related("solution__problem", "draft").get(pk=lease_id)


def _nothing(project: Project, membership: Membership) -> Claim:
    """Why there is nothing; `all_leased` only if one of the leases would leave a place for this person."""
    mine = Lease.objects.filter(annotator=membership, solution=OuterRef("solution"))
    retry_at = (
        Lease.objects.filter(
            state=Lease.State.ACTIVE,
            item__project=project,
            item__state__in=[QueueItem.State.READY, QueueItem.State.FULL],
            item__generation__state=Generation.State.OPEN,
            item__paused=False,
        )
        .filter(Q(item__assigned_to=membership) | Q(item__assigned_to__isnull=True))
        .exclude(Exists(mine.exclude(state=Lease.State.EXPIRED)))
        .aggregate(first=Min("expires_at"))["first"]
    )
    if retry_at is not None:
        message = "All that is left is in other people's hands; it may come back to you when their time is over."
        return Claim(reason="all_leased", message=message, retry_at=retry_at)
    return Claim(reason="done", message="You are done: nothing is waiting for you in this project.")
