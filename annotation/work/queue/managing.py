"""A manager's changes of waiting items: pin, pause, hand to a person, move to the front or the end."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, Min

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import require_role
from annotation.models import Generation, Lane, Lease, Membership, PracticeAnswer, Project, QueueItem, Solution
from annotation.work.queue.items import lock_items
from prm.messages import Message

OPEN = (QueueItem.State.READY, QueueItem.State.FULL)
MOST = 5000  # items changed by one request


# The changes of an item's own fields: the action on record, and the new values.
FIELDS: dict[str, tuple[str, dict[str, Any]]] = {
    "pin": ("queue.pin", {"pinned": True}),
    "unpin": ("queue.unpin", {"pinned": False}),
    "pause": ("queue.pause", {"paused": True}),
    "resume": ("queue.resume", {"paused": False}),
    "open": ("queue.open", {"assigned_to_id": None}),
}
CHANGES = (*FIELDS, "front", "end", "hand")


@transaction.atomic
def change_items(*, by: User, project: Project, change: str, items: Sequence[int], to: Membership | None = None) -> int:
    """Make one of CHANGES, with an audit row for each item; returns how many items changed.

    - `pin` serves items before all that are not pinned. `pause` leases them to nobody; active leases continue.
    - `hand` reserves them for `to`, who gets them before all others; `open` opens them to all again.
    - `front` and `end` serve them before or after all others that wait, in the order they are named.

    Done and retired items stay unchanged. Raises Forbidden, Missing (`item_not_found`), DomainError
    (`too_many_items`; `unknown_change`; of `hand`: `person_needed`, `not_a_member` if `to` is not an active member,
    `had_before` if they have had one).
    """
    if change not in CHANGES:
        raise DomainError(Message("unknown_change", known=", ".join(CHANGES)), {"field": "change"})
    if change == "hand":
        return _hand(by, project, items, to)
    if change in FIELDS:
        return _change(by, project, items, *FIELDS[change])
    return _move(by, project, items, to_front=change == "front")


def _hand(by: User, project: Project, items: Sequence[int], to: Membership | None) -> int:
    if to is None:
        raise DomainError(Message("person_needed"), {"field": "to"})
    if to.project_id != project.pk or not to.active:
        raise DomainError(Message("member_not_active"), {"field": "to"}, code="not_a_member")
    leases = Lease.objects.filter(annotator=to, solution__queue_items__in=items)
    earlier = leases.exclude(state=Lease.State.EXPIRED)
    if solution := earlier.values_list("solution", flat=True).first():
        message = Message("solution_had_before", name=to.user.username, solution=solution)
        raise DomainError(message, {"field": "items", "solution": solution}, code="had_before")
    return _change(by, project, items, "queue.hand", {"assigned_to_id": to.pk})


def _move(by: User, project: Project, items: Sequence[int], *, to_front: bool) -> int:
    locked = _lock(by, project, items)
    waiting = QueueItem.objects.filter(project=project, state__in=OPEN)
    if to_front:
        # Ranks do not go below 0, so that what waits makes room.
        first = waiting.aggregate(first=Min("rank"))["first"] or 0
        if first < len(locked):
            waiting.update(rank=F("rank") + len(locked) - first)
            first = len(locked)
        start = first - len(locked)
    else:
        start = (waiting.aggregate(last=Max("rank"))["last"] or 0) + 1
    order = {pk: place for place, pk in enumerate(items)}
    for item in locked:
        before, item.rank = item.rank, start + order[item.pk]
        _record(by, item, "queue.move", {"rank": before}, {"rank": item.rank})
    QueueItem.objects.bulk_update(locked, ["rank"], batch_size=1000)
    return len(locked)


@transaction.atomic
def queue_solution(*, by: User, project: Project, solution: Solution, to: Membership | None = None) -> QueueItem:
    """Ask for a label of a pool solution that no draw has chosen, on top of the open generation, before the rest.

    Its item is in the lane `pinned`: what it teaches counts, but in neither arm of a comparison, for nobody drew it.
    A solution that waits already is pinned. Raises Forbidden, Conflict (`no_generation`), DomainError (`not_of_pool`:
    what measures is drawn at random), Conflict (`practised`), and as `change_items`.
    """
    require_role(by, project, Membership.Role.MANAGER)
    generation = Generation.objects.select_for_update().filter(project=project, state=Generation.State.OPEN).first()
    if generation is None:
        raise Conflict(Message("no_generation"))
    if solution.project_id != project.pk:
        message = Message("solution_id_not_in_project", solution_id=solution.pk, name=project.name)
        raise Missing(message, code="solution_not_found")
    if solution.split != "pool":
        raise DomainError(Message("not_of_pool", solution=solution.pk))
    if PracticeAnswer.objects.filter(gold__solution=solution).exists():
        raise Conflict(Message("solution_practised", solution=solution.pk), code="practised")
    item, created = QueueItem.objects.get_or_create(
        generation=generation,
        solution=solution,
        defaults={"project": project, "split": solution.split, "lane": Lane.PINNED, "rank": 0, "reopened": True},
    )
    if created:
        _record(by, item, "queue.add", {}, {"solution": solution.pk, "generation": generation.number})
    elif item.state not in OPEN:
        raise Conflict(Message("item_done", solution=solution.pk))
    _change(by, project, [item.pk], *FIELDS["pin"])
    if to is not None:
        _hand(by, project, [item.pk], to)
    item.refresh_from_db()
    return item


def _change(by: User, project: Project, items: Sequence[int], action: str, fields: dict[str, Any]) -> int:
    changed = []
    for item in _lock(by, project, items):
        before = {name: getattr(item, name) for name in fields}
        if before != fields:
            for name, value in fields.items():
                setattr(item, name, value)
            _record(by, item, action, before, fields)
            changed.append(item)
    QueueItem.objects.bulk_update(changed, list(fields), batch_size=1000)
    return len(changed)


def _lock(by: User, project: Project, items: Sequence[int]) -> list[QueueItem]:
    """The items named that wait or are held; those that ended are left out."""
    require_role(by, project, Membership.Role.MANAGER)
    if len(items) > MOST:
        raise DomainError(Message("too_many_items", most=f"{MOST:,}"), {"field": "items"})
    wanted = set(items)
    known = set(QueueItem.objects.filter(project=project, pk__in=wanted).values_list("pk", flat=True))
    if missing := sorted(wanted - known):
        raise Missing(Message("item_not_found", missing=missing[0], name=project.name))
    return [item for item in lock_items(wanted) if item.state in OPEN]


def _record(by: User, item: QueueItem, action: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    audit.record(by=by, action=action, target=item, before=before, after=after)
