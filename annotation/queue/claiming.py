"""The next task of an annotator: what they already hold, else the next item with a free place."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import audit
from annotation.models import Lease, Membership, Project
from annotation.queue import hidden
from annotation.queue.leases import expire_leases
from annotation.queue.reasons import why_nothing
from annotation.queue.rules import cap_reached, rules_for
from annotation.queue.taking import take, take_thoroughly

Take = Callable[..., int | None]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A lease, or the reason why there is none: done, all_leased, not_annotator, holding_enough, paused,
    screening_failed, screening_unready, cap_reached, cooling_down, not_qualified.

    `message` is for the annotator; `retry_at` is when there may be work again, None where nobody knows.
    """

    lease: Lease | None = None
    reason: str | None = None
    message: str = ""
    retry_at: datetime | None = None
    resumed: bool = False


def claim_next(*, by: User, project: Project, holding: list[int]) -> Claim:
    """The oldest lease of the person that is not in `holding` (ids their page has in hand), else a new one.

    At most `1 + prefetch_depth` leases are active per person. Whoever is an active member may label.
    """
    found = _attempt(take, by=by, project=project, holding=holding)
    if found is None:
        # Before saying that nothing is left: take back what nobody works on any more, look at everything, and wait for
        # what others are locking at this moment. In transactions of their own, so that no lock waits on another.
        expire_leases(project=project)
        found = _attempt(take_thoroughly, by=by, project=project, holding=holding)
    if found is None:
        found = _nothing(by, project)
    return found if isinstance(found, Claim) else Claim(lease=_with_work(found.lease), resumed=found.resumed)


@dataclass(frozen=True)
class _Found:
    lease: int
    resumed: bool = False


@transaction.atomic
def _attempt(take: Take, *, by: User, project: Project, holding: list[int]) -> _Found | Claim | None:
    """A lease, or a reason that no further look can change; None where `take` found nothing."""
    membership = Membership.objects.select_for_update(no_key=True).filter(project=project, user=by, active=True).first()
    if membership is None:
        return Claim(
            reason="not_annotator", message=_("You are not a member of this project, so you cannot label in it.")
        )
    membership.project = project
    policy = project.policies.queue
    now = timezone.now()
    until = now + timedelta(minutes=policy.lease_minutes)
    in_hand = Lease.objects.filter(annotator=membership, state=Lease.State.ACTIVE).order_by("claimed_at", "id")
    held = list(in_hand.values_list("pk", flat=True))
    for lease_id in held:
        # The sweep may be expiring it at this moment: the row decides.
        if lease_id not in holding and in_hand.filter(pk=lease_id).update(expires_at=until):
            return _Found(lease_id, resumed=True)
    if project.state == Project.State.PAUSED:
        return Claim(reason="paused", message=_("This project is paused: its manager will open it again."))
    if len(held) > policy.prefetch_depth:
        return Claim(reason="holding_enough", message=_("Finish what you have first."))
    if tomorrow := cap_reached(membership, len(held), now):
        message = _("You have labelled as much as this project asks of one person in a day. It goes on tomorrow.")
        return Claim(reason="cap_reached", message=message, retry_at=tomorrow)
    first = hidden.give(membership, now=now, until=until)
    if first is not None and first.lease is None:
        return Claim(reason=first.reason, message=first.message)
    taken = first.lease if first else take(membership, rules_for(membership, now), now=now, until=until)
    if taken is None:
        return None
    lease = Lease.objects.only("item_id", "solution_id").get(pk=taken)
    audit.record(
        by=by,
        action="lease.claim",
        target=lease,
        project=project,
        after={"item": lease.item_id, "solution": lease.solution_id, "expires_at": until.isoformat()},
    )
    return _Found(taken)


def _with_work(lease_id: int) -> Lease:
    return Lease.objects.select_related("solution__problem", "draft").get(pk=lease_id)


def _nothing(by: User, project: Project) -> Claim:
    membership = Membership.objects.get(project=project, user=by)
    membership.project = project
    why = why_nothing(membership, rules_for(membership, timezone.now()))
    return Claim(reason=why.reason, message=why.message, retry_at=why.retry_at)
