"""Queue items and the counts of their places."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import connection, transaction
from django.db.models import F, QuerySet

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.models import OPEN, Generation, HandOver, QueueItem, Route, Solution, Taker
from prm.messages import Message

State = QueueItem.State
BATCH = 1000  # items that are in memory at a time


@dataclass(frozen=True, kw_only=True)
class Selection:
    """A solution chosen for a generation. Selections are served in their order.

    `inclusion_probability` is the probability with which it was chosen, `gain` the expected information in nats,
    `expected_seconds` the labelling time that the cost model predicts; None if the lane has no such figure. On a
    judge's route, `wanted` counts judges; the other fields are those of `QueueItem`.
    """

    solution_id: int
    lane: str
    wanted: int = 1
    inclusion_probability: float | None = None
    gain: float | None = None
    expected_seconds: float | None = None
    route: Route = Route.PERSON
    rule: int | None = None
    predicted_error: float | None = None
    audit_probability: float | None = None
    audited: bool = False


@transaction.atomic
def replace_items(*, generation: Generation, selections: Sequence[Selection], by: User | None = None) -> None:
    """Fill a generation's queue and retire the items of earlier generations, in one transaction.

    Leased items get no further places, so that the work in progress finishes and counts. The earlier items come last:
    until the end of the transaction, submissions wait for them. Raises DomainError (`unknown_solution`).
    """
    solutions = Solution.objects.filter(project_id=generation.project_id)
    splits = dict(solutions.filter(pk__in=[s.solution_id for s in selections]).values_list("pk", "split"))
    if missing := [s.solution_id for s in selections if s.solution_id not in splits]:
        raise DomainError(
            Message("solutions_not_in_project", missing=missing[0], project=generation.project),
            {"solutions": missing},
            code="unknown_solution",
        )
    for first in range(0, len(selections), BATCH):
        batch = enumerate(selections[first : first + BATCH], first)
        QueueItem.objects.bulk_create(
            QueueItem(
                project_id=generation.project_id,
                generation=generation,
                solution_id=selection.solution_id,
                split=splits[selection.solution_id],
                lane=selection.lane,
                rank=rank,
                wanted=selection.wanted,
                inclusion_probability=selection.inclusion_probability,
                gain=selection.gain,
                expected_seconds=selection.expected_seconds,
                route=selection.route,
                taker=Taker.PERSON if selection.route == Route.PERSON else Taker.MACHINE,
                rule=selection.rule,
                predicted_error=selection.predicted_error,
                audit_probability=selection.audit_probability,
                audited=selection.audited,
            )
            for rank, selection in batch
        )
    connection.check_constraints()  # of the new items, before anybody waits
    earlier = QueueItem.objects.filter(project=generation.project_id).exclude(generation=generation)
    retired = _close_all(earlier)
    audit.record(
        by=by, action="queue.replace_items", target=generation, after={"created": len(selections), "retired": retired}
    )


def lock_items(ids: Iterable[int]) -> list[QueueItem]:
    """The items, locked in the order of their ids until the transaction ends."""
    items = list(QueueItem.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=list(ids)).order_by("pk"))
    # Read after the items are locked: the lock may have waited for the replacement of a generation.
    generations = Generation.objects.in_bulk({item.generation_id for item in items})
    for item in items:
        item.generation = generations[item.generation_id]
    return items


def leave_queue(solutions: Collection[int]) -> None:
    """Remove the solutions from the queue, within the caller's transaction. Active leases can still be submitted."""
    _close_all(QueueItem.objects.filter(solution__in=solutions))


def _close_all(items: QuerySet[QueueItem]) -> int:
    """Settle the open items as those of a retired generation; returns how many are retired.

    They are locked in the order of their ids, and changed by the database: a queue can have 50,000 of them.
    """
    items = items.filter(OPEN)
    list(items.select_for_update(no_key=True, of=("self",)).order_by("pk").values_list("pk"))
    items.filter(leased__gt=0).update(wanted=F("leased") + F("done"), state=State.FULL)
    items.filter(leased=0, done__gte=F("wanted")).update(state=State.DONE)
    return items.filter(leased=0, done__lt=F("wanted")).update(state=State.RETIRED)


def settle(item: QueueItem) -> None:
    """Set the state that follows from the changed counts; does not save."""
    if item.state == State.RETIRED:
        return
    is_closing = item.generation.state == Generation.State.RETIRED
    if is_closing and item.leased:
        item.wanted = item.leased + item.done
    if item.done >= item.wanted:
        item.state = State.DONE
    elif is_closing and not item.leased:
        item.state = State.RETIRED
    else:
        item.state = State.FULL if item.leased + item.done >= item.wanted else State.READY


def hand_over(item: QueueItem, reason: HandOver) -> None:
    """Give an item that no machine holds a place for one person, and none for machines; does not save."""
    item.taker, item.handed_over, item.wanted = Taker.PERSON, reason, item.done + 1
    settle(item)


def save_places(items: Sequence[QueueItem]) -> None:
    """Store the counts and states of items that this transaction has locked."""
    for item in items:
        settle(item)
    if len(items) == 1:
        items[0].save(update_fields=["wanted", "leased", "done", "state"])
    elif items:
        QueueItem.objects.bulk_update(items, ["wanted", "leased", "done", "state"], batch_size=1000)
