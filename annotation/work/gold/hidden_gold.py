"""Hidden gold: which gold solution a person gets, and when. Annotators cannot recognise it.

A person's work is divided into blocks of 1 / share solutions. Each block has one gold position, drawn for this person
and block. So n solutions include n * share gold ones, plus or minus one, and the positions are unpredictable without
the server's secret.
"""

from datetime import datetime
from math import ceil

from django.db.models import Exists, OuterRef, QuerySet
from django.utils.crypto import salted_hmac

from annotation.models import HIDDEN_LANES, Generation, GoldAnswer, Lane, Lease, Membership, QueueItem
from annotation.work.gold.designation import hidden_gold
from annotation.work.queue.item_choice import Taken

# Most projects have none, and a claim then asks nothing further.
ANY_GOLD = "SELECT FROM annotation_goldanswer WHERE project_id = %(project)s AND active AND NOT practice"


def due(membership: Membership) -> int | None:
    """The gold solution that is due; None if ordinary work is due. The caller has locked the membership."""
    share = membership.project.policies.gold.share
    if not share or not fresh_gold(membership).exists():
        return None
    place, last = place_of(membership)
    if last is not None and int(last * share) == int(place * share):
        return None
    if place < place_in_block(membership, int(place * share), share):
        return None
    return fresh_gold(membership).order_by("?").values_list("solution", flat=True).first()


def place_of(membership: Membership) -> tuple[int, int | None]:
    """How many solutions the person has had, not counting screening and skips, and the position of their last gold.

    A hidden item's rank is its position, so only later leases are counted. An item without a lease does not count: its
    gold was retired, and the person has the solution as ordinary work.
    """
    items = QueueItem.objects.filter(assigned_to=membership, lane=Lane.GOLD, leases__isnull=False)
    last = items.order_by("-pk").values_list("rank", "leases").first()
    leases = Lease.objects.filter(annotator=membership).exclude(state=Lease.State.RELEASED)
    if last is None:
        return leases.exclude(item__lane=Lane.SCREENING).count(), None
    rank, lease = last
    return rank + 1 + leases.filter(pk__gt=lease).exclude(item__lane__in=HIDDEN_LANES).count(), rank


def place_in_block(membership: Membership, block: int, share: float) -> int:
    """The position of a person's gold in a block: a whole number from block / share up to (block + 1) / share."""
    first, end = ceil(block / share), ceil((block + 1) / share)
    digest = salted_hmac("annotation.work.gold.hidden_gold", f"{membership.pk} {block}", algorithm="sha256").digest()
    return first + int.from_bytes(digest[:8]) % (end - first)


def fresh_gold(membership: Membership) -> QuerySet[GoldAnswer]:
    """Hidden gold that the person has never leased, and whose reference is not their own label."""
    earlier_leases = Lease.objects.filter(annotator=membership, solution=OuterRef("solution"))
    return hidden_gold(membership.project).exclude(Exists(earlier_leases)).exclude(annotation__annotator=membership)


def lease_gold(
    membership: Membership,
    generation: Generation,
    solution: int,
    lane: str,
    place: int,
    now: datetime,
    until: datetime,
) -> Taken:
    """Lease a gold solution to this person, through an item that only they get."""
    split = GoldAnswer.objects.values_list("solution__split", flat=True).get(solution=solution)
    item = QueueItem.objects.create(
        project_id=membership.project_id,
        generation=generation,
        solution_id=solution,
        split=split,
        lane=lane,
        rank=place,
        leased=1,
        state=QueueItem.State.FULL,
        assigned_to=membership,
    )
    lease = Lease.objects.create(
        item=item, solution_id=solution, annotator=membership, claimed_at=now, expires_at=until
    )
    return Taken(lease.pk, item.pk, solution)
