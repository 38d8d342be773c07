"""Leases the work that comes before the ordinary queue: screening of new members, and hidden gold that is due."""

from datetime import datetime

from django.utils.translation import gettext as _

from annotation.models import Generation, Lane, Lease, Membership, QueueItem, ScreeningDecision
from annotation.work.gold import hidden_gold as gold
from annotation.work.gold import screening
from annotation.work.queue.claims import Claim, holding_enough
from annotation.work.queue.item_choice import Taken
from annotation.work.queue.items import lock_items

Outcome = ScreeningDecision.Outcome


def lease_due(
    membership: Membership, latest: ScreeningDecision | None, *, any_gold: bool, now: datetime, until: datetime
) -> Taken | Claim | None:
    """Lease gold that comes before ordinary work, or refuse all work; None if ordinary work is next.

    The caller has locked the membership, and then read its `latest` decision and whether the project has `any_gold`.

    Without an open generation no gold is leased, because there is no ordinary work to hide it in. A machine gets none.
    """
    status = screening.settle(membership, latest)
    if status == Outcome.FAILED:
        message = _(
            "You did not pass the screening, because too many of your answers differed from the right ones. The "
            "project’s manager can let you try again."
        )
        return Claim(reason="screening_failed", message=message)
    if status == Outcome.PAUSED:
        message = _("Your work is paused until the project’s manager has reviewed it with you. Your labels are safe.")
        return Claim(reason="paused", message=message)
    if status == Outcome.AGAIN:
        return _screen(membership, now, until)
    if membership.kind == Membership.Kind.MACHINE or not any_gold:
        return None
    solution = gold.due(membership)
    generation = _open_generation(membership) if solution is not None else None
    if solution is None or generation is None:
        return None
    place = gold.place_of(membership)[0]
    return gold.lease_gold(membership, generation, solution, Lane.GOLD, place, now, until)


def _open_generation(membership: Membership) -> Generation | None:
    return Generation.objects.filter(project=membership.project_id, state=Generation.State.OPEN).first()


def _screen(membership: Membership, now: datetime, until: datetime) -> Taken | Claim:
    generation = _open_generation(membership)
    if generation is None:
        return Claim(reason="done", message=_("There is no work in this project yet."))
    attempt = screening.attempt_of(membership, screening.latest_decision(membership))
    if attempt.expired_item is not None:
        return _renew(membership, attempt.expired_item, now, until)
    wanted = membership.project.policies.screening.items - attempt.finished - attempt.open
    if wanted <= 0:
        return holding_enough()
    fresh = gold.fresh_gold(membership)
    if fresh.count() < wanted:
        message = _(
            "New annotators begin with screening solutions, and this project has too few. Ask the project’s manager to "
            "add some."
        )
        return Claim(reason="screening_unready", message=message)
    solution = fresh.order_by("?").values_list("solution", flat=True)[0]
    place = attempt.finished + attempt.open
    return gold.lease_gold(membership, generation, solution, Lane.SCREENING, place, now, until)


def _renew(membership: Membership, item_id: int, now: datetime, until: datetime) -> Taken:
    """Renew the person's expired lease of a screening item."""
    [item] = lock_items([item_id])
    item.leased, item.state = 1, QueueItem.State.FULL
    item.save(update_fields=["leased", "state"])
    lease = Lease.objects.select_for_update(no_key=True).get(annotator=membership, solution=item.solution_id)
    lease.state, lease.claimed_at, lease.expires_at, lease.ended_at = Lease.State.ACTIVE, now, until, None
    lease.save(update_fields=["state", "claimed_at", "expires_at", "ended_at"])
    return Taken(lease.pk, item.pk, item.solution_id)
