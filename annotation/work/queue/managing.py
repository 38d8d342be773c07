"""A manager's changes to waiting items: pin, pause, assign to a person, move to the front or the end."""

from collections.abc import Sequence
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import F, Max, Min, QuerySet

from annotation.core import audit
from annotation.core.errors import Conflict, DomainError, Missing
from annotation.core.membership.access import require_role
from annotation.models import (
    HIDDEN_LANES,
    OPEN,
    OPEN_STATES,
    Generation,
    GoldAnswer,
    HandOver,
    Lane,
    Lease,
    Membership,
    PracticeAnswer,
    Project,
    QueueItem,
    Solution,
    Taker,
)
from annotation.work.queue.items import hand_over, lock_items
from prm.messages import Message

MOST = 5000  # items changed by one request

# Changes to an item's own fields: the action in the audit log, and the new values.
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
    - `hand` reserves items for `to`, who gets them before all others; `open` makes them available to everyone again.
    - `front` and `end` serve items before or after all others that wait, in the order of `items`.

    Done and retired items stay unchanged, and so do items of hidden gold. Raises Forbidden, Missing (`item_not_found`)
    and DomainError: `too_many_items`, `unknown_change`; for `hand`, `person_needed`, `not_a_member` if `to` is not an
    active member, `had_before` if they have had one of the solutions, and `not_people_s` if a machine or an item that
    waits for one is involved.
    """
    if change not in CHANGES:
        raise DomainError(Message("unknown_change", known=", ".join(CHANGES)), {"field": "change"})
    require_role(by, project, Membership.Role.MANAGER)
    if change == "hand":
        return _hand(by, project, items, to)
    if change in FIELDS:
        return _change(by, project, items, *FIELDS[change])
    return _move(by, project, items, to_front=change == "front")


@transaction.atomic
def hand_over_waiting(*, by: User, project: Project) -> int:
    """Hand all items that wait for a judge to people, each to one person; returns how many.

    Items that a machine holds now are left until its lease ends. Raises Forbidden.
    """
    require_role(by, project, Membership.Role.MANAGER)
    waiting = project.queue_items.filter(state=QueueItem.State.READY, taker=Taker.MACHINE, leased=0)
    locked = lock_items(waiting.values_list("pk", flat=True))
    items = [item for item in locked if (item.state, item.taker, item.leased) == ("ready", "machine", 0)]
    for item in items:
        hand_over(item, HandOver.MANAGER)
        _record(by, item, "queue.hand_over", {}, {"reason": HandOver.MANAGER})
    QueueItem.objects.bulk_update(items, ["taker", "handed_over", "wanted", "state"], batch_size=1000)
    return len(items)


def _hand(by: User, project: Project, items: Sequence[int], to: Membership | None) -> int:
    if to is None:
        raise DomainError(Message("person_needed"), {"field": "to"})
    if to.project_id != project.pk or not to.active:
        raise DomainError(Message("member_not_active"), {"field": "to"}, code="not_a_member")
    if to.kind == Membership.Kind.MACHINE:
        raise DomainError(Message("machines_by_routes", name=to.name), {"field": "to"}, code="not_people_s")
    if item := QueueItem.objects.filter(pk__in=items, taker=Taker.MACHINE).first():
        message = Message("item_waits_for_machine", solution=item.solution_id)
        raise DomainError(message, {"field": "items", "solution": item.solution_id}, code="not_people_s")
    leases = Lease.objects.filter(annotator=to, solution__queue_items__in=items)
    earlier = leases.exclude(state=Lease.State.EXPIRED)
    if solution := earlier.values_list("solution", flat=True).first():
        message = Message("solution_had_before", name=to.name, solution=solution)
        raise DomainError(message, {"field": "items", "solution": solution}, code="had_before")
    return _change(by, project, items, "queue.hand", {"assigned_to_id": to.pk})


def _move(by: User, project: Project, items: Sequence[int], *, to_front: bool) -> int:
    waiting = _waiting(project)
    if to_front:  # ranks cannot be negative, so other items may have to move back: lock all of them, in order of id
        list(waiting.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True))
    locked = _lock(project, items)
    if to_front:
        first = waiting.aggregate(first=Min("rank"))["first"] or 0
        if first < len(locked):
            waiting.update(rank=F("rank") + len(locked) - first)
            first = len(locked)
        start = first - len(locked)
    else:
        start = (waiting.aggregate(last=Max("rank"))["last"] or 0) + 1
    order = {pk: place for place, pk in enumerate(items)}
    for rank, item in enumerate(sorted(locked, key=lambda item: order[item.pk]), start):
        before, item.rank = item.rank, rank
        _record(by, item, "queue.move", {"rank": before}, {"rank": item.rank})
    QueueItem.objects.bulk_update(locked, ["rank"], batch_size=1000)
    return len(locked)


@transaction.atomic
def queue_solution(*, by: User, project: Project, solution: Solution, to: Membership | None = None) -> QueueItem:
    """Add a pool solution to the front of the open generation; pin its item if it already waits.

    The new item is in the lane `pinned`: its labels train models, but belong to neither arm of a comparison, because no
    draw chose the solution. Raises Forbidden, DomainError (`not_of_pool`: holdout and calibration are drawn at random),
    Conflict (`no_generation`, `solution_is_gold`, `practised`, `item_done`), and as `change_items`.
    """
    require_role(by, project, Membership.Role.MANAGER)
    generations = Generation.objects.select_for_update(no_key=True)
    generation = generations.filter(project=project, state=Generation.State.OPEN).first()
    if generation is None:
        raise Conflict(Message("no_generation"))
    if solution.project_id != project.pk:
        message = Message("solution_id_not_in_project", solution_id=solution.pk, name=project.name)
        raise Missing(message, code="solution_not_found")
    if solution.split != "pool":
        raise DomainError(Message("not_of_pool", solution=solution.pk))
    if GoldAnswer.objects.filter(solution=solution, active=True).exists():
        raise Conflict(Message("solution_is_gold", solution=solution.pk))
    if PracticeAnswer.objects.filter(gold__solution=solution).exists():
        raise Conflict(Message("solution_practised", solution=solution.pk), code="practised")
    item, created = QueueItem.objects.exclude(lane__in=HIDDEN_LANES).get_or_create(
        generation=generation,
        solution=solution,
        defaults={"project": project, "split": solution.split, "lane": Lane.PINNED, "rank": 0, "reopened": True},
    )
    if created:
        _record(by, item, "queue.add", {}, {"solution": solution.pk, "generation": generation.number})
    elif item.state not in OPEN_STATES:
        raise Conflict(Message("item_done", solution=solution.pk))
    _change(by, project, [item.pk], *FIELDS["pin"])
    if to is not None:
        _hand(by, project, [item.pk], to)
    item.refresh_from_db()
    return item


def _change(by: User, project: Project, items: Sequence[int], action: str, fields: dict[str, Any]) -> int:
    changed = []
    for item in _lock(project, items):
        before = {name: getattr(item, name) for name in fields}
        if before != fields:
            for name, value in fields.items():
                setattr(item, name, value)
            _record(by, item, action, before, fields)
            changed.append(item)
    QueueItem.objects.bulk_update(changed, list(fields), batch_size=1000)
    return len(changed)


def _waiting(project: Project) -> QuerySet[QueueItem]:
    """The items that wait or are leased, except hidden gold: its rank counts the solutions that a person has had."""
    return QueueItem.objects.filter(OPEN, project=project).exclude(lane__in=HIDDEN_LANES)


def _lock(project: Project, items: Sequence[int]) -> list[QueueItem]:
    """The named items that can change, locked. Raises DomainError (`too_many_items`), Missing (`item_not_found`)."""
    if len(items) > MOST:
        raise DomainError(Message("too_many_items", most=f"{MOST:,}"), {"field": "items"})
    wanted = set(items)
    known = set(QueueItem.objects.filter(project=project, pk__in=wanted).values_list("pk", flat=True))
    if missing := sorted(wanted - known):
        raise Missing(Message("item_not_found", missing=missing[0], name=project.name))
    waiting = lock_items(_waiting(project).filter(pk__in=wanted).values_list("pk", flat=True))
    return [item for item in waiting if item.state in OPEN_STATES]


def _record(by: User, item: QueueItem, action: str, before: dict[str, Any], after: dict[str, Any]) -> None:
    audit.record(by=by, action=action, target=item, before=before, after=after)
