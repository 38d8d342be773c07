"""Queue items and the counts of their places."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.contrib.auth.models import User
from django.db import transaction

from annotation.core import audit
from annotation.core.errors import DomainError
from annotation.models import Generation, HandOver, QueueItem, Route, Solution, Taker
from prm.messages import Message

State = QueueItem.State


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
def replace_items(
    *, generation: Generation, selections: Sequence[Selection], by: User | None = None
) -> list[QueueItem]:
    """Fill a generation's queue and retire the items of earlier generations, in one transaction.

    Leased items get no further places, so that the work in progress finishes and counts. Raises DomainError
    (`unknown_solution`).
    """
    solutions = Solution.objects.filter(project_id=generation.project_id)
    splits = dict(solutions.filter(pk__in=[s.solution_id for s in selections]).values_list("pk", "split"))
    if missing := [s.solution_id for s in selections if s.solution_id not in splits]:
        raise DomainError(
            Message("solutions_not_in_project", missing=missing[0], project=generation.project),
            {"solutions": missing},
            code="unknown_solution",
        )
    retired = _retire_earlier(generation)
    created = QueueItem.objects.bulk_create(
        [
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
            for rank, selection in enumerate(selections)
        ],
        batch_size=1000,
    )
    audit.record(
        by=by, action="queue.replace_items", target=generation, after={"created": len(created), "retired": retired}
    )
    return created


def _retire_earlier(generation: Generation) -> int:
    earlier = lock_items(
        QueueItem.objects.filter(project_id=generation.project_id, state__in=[State.READY, State.FULL])
        .exclude(generation=generation)
        .values_list("pk", flat=True)
    )
    for item in earlier:
        close_places(item)
    QueueItem.objects.bulk_update(earlier, ["wanted", "state"], batch_size=1000)
    return sum(item.state == State.RETIRED for item in earlier)


def lock_items(ids: Iterable[int]) -> list[QueueItem]:
    """The items, locked in the order of their ids until the transaction ends."""
    items = list(QueueItem.objects.select_for_update(no_key=True, of=("self",)).filter(pk__in=list(ids)).order_by("pk"))
    # Read after the items are locked: the lock may have waited for the replacement of a generation.
    generations = Generation.objects.in_bulk({item.generation_id for item in items})
    for item in items:
        item.generation = generations[item.generation_id]
    return items


def close_places(item: QueueItem) -> None:
    """Give an item no further places; does not save."""
    if item.leased:
        item.wanted = item.leased + item.done
        item.state = State.FULL
    else:
        item.state = State.DONE if item.done >= item.wanted else State.RETIRED


def leave_queue(solutions: Collection[int]) -> None:
    """Remove the solutions from the queue, within the caller's transaction. Active leases can still be submitted."""
    open_ = QueueItem.objects.filter(solution__in=solutions, state__in=[State.READY, State.FULL])
    items = lock_items(open_.values_list("pk", flat=True))
    for item in items:
        close_places(item)
    QueueItem.objects.bulk_update(items, ["wanted", "state"], batch_size=1000)


def settle(item: QueueItem) -> None:
    """Set the state that follows from the changed counts; does not save."""
    if item.state == State.RETIRED:
        return
    if item.generation.state == Generation.State.RETIRED:
        close_places(item)
    if item.done >= item.wanted:
        item.state = State.DONE
    elif item.state != State.RETIRED:
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
