"""What managers do to the queue: who gets what first, what nobody gets, and that it is written down."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.core.errors import Conflict, DomainError, Forbidden, Missing
from annotation.models import AuditEntry, Generation, Lane, Lease, Membership, QueueItem
from annotation.work.claiming import claim_next
from annotation.work.gold.designation import retire_gold
from annotation.work.queue import managing
from annotation.work.queue.items import lock_items
from annotation.work.queue.leases import release
from tests.api_client import api_of
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory, SolutionFactory
from tests.unit.annotation.work.queue.gold_world import make_gold
from tests.waiting import PATIENCE, is_waited_for, until

pytestmark = pytest.mark.django_db


@pytest.fixture
def generation():
    return GenerationFactory()


@pytest.fixture
def manager(generation):
    return MembershipFactory(project=generation.project, role=Membership.Role.MANAGER).user


@pytest.fixture
def items(generation):
    return [QueueItemFactory(generation=generation, rank=rank) for rank in range(4)]


def served(member):
    """What a person gets one after another until nothing is left for them."""
    got = []
    while lease := claim_next(by=member.user, project=member.project, holding=[]).lease:
        got.append(lease.item)
        release(by=member.user, lease_id=lease.pk)
    return got


def change(manager, name, *items, to=None):
    return managing.change_items(
        by=manager, project=items[0].project, change=name, items=[item.pk for item in items], to=to
    )


def test_pinned_items_come_first_and_unpinned_ones_in_their_place_again(generation, manager, items):
    assert change(manager, "pin", items[2]) == 1
    assert served(MembershipFactory(project=generation.project)) == [items[2], items[0], items[1], items[3]]
    assert change(manager, "unpin", items[2]) == 1
    assert served(MembershipFactory(project=generation.project)) == items


def test_items_move_to_the_front_and_to_the_end_in_the_order_named(generation, manager, items):
    change(manager, "front", items[3], items[2])
    change(manager, "end", items[0])
    assert served(MembershipFactory(project=generation.project)) == [items[3], items[2], items[1], items[0]]


def test_an_item_moves_to_the_front_even_if_those_named_before_it_have_ended(generation, manager, items):
    QueueItem.objects.filter(pk__in=[item.pk for item in items[:2]]).update(state=QueueItem.State.DONE)
    assert change(manager, "front", *items[:2], items[3]) == 1
    assert served(MembershipFactory(project=generation.project)) == [items[3], items[2]]


def test_a_paused_item_is_given_to_nobody_until_it_is_resumed(generation, manager, items):
    change(manager, "pause", *items[1:])
    annotator = MembershipFactory(project=generation.project)
    assert served(annotator) == items[:1]
    change(manager, "resume", items[1])
    assert served(annotator) == [items[1]]


def test_what_is_handed_to_a_person_comes_to_them_first_and_to_nobody_else(generation, manager, items):
    chosen, other = (MembershipFactory(project=generation.project) for _ in range(2))
    change(manager, "hand", items[3], to=chosen)
    assert served(other) == items[:3]
    assert served(chosen)[0] == items[3]
    change(manager, "open", items[3])
    assert served(other) == [items[3]]


def test_nobody_is_handed_a_solution_again_nor_a_stranger_any(generation, manager, items):
    annotator = MembershipFactory(project=generation.project)
    claim_next(by=annotator.user, project=generation.project, holding=[])
    with pytest.raises(DomainError, match="nobody gets a solution twice"):
        change(manager, "hand", items[0], to=annotator)
    with pytest.raises(DomainError, match="active member"):
        change(manager, "hand", items[1], to=MembershipFactory())
    assert not QueueItem.objects.filter(assigned_to__isnull=False).exists()


def test_who_holds_a_paused_item_may_finish_it(generation, manager, items):
    annotator = MembershipFactory(project=generation.project)
    lease = claim_next(by=annotator.user, project=generation.project, holding=[]).lease
    change(manager, "pause", items[0])
    lease.refresh_from_db()
    assert lease.state == Lease.State.ACTIVE
    again = claim_next(by=annotator.user, project=generation.project, holding=[])
    assert (again.lease, again.resumed) == (lease, True)


def test_every_change_has_an_audit_row_and_no_change_has_none(manager, items):
    change(manager, "pin", *items[:2])
    assert change(manager, "pin", *items[:3]) == 1
    rows = AuditEntry.objects.filter(action="queue.pin", target_type="queueitem")
    assert {int(row.target_id) for row in rows} == {item.pk for item in items[:3]}
    assert all(row.by == manager and (row.before, row.after) == ({"pinned": False}, {"pinned": True}) for row in rows)


def test_what_has_ended_is_left_as_it_is(manager, items):
    QueueItem.objects.filter(pk=items[0].pk).update(state="retired")
    assert change(manager, "pause", *items[:2]) == 1
    items[0].refresh_from_db()
    assert not items[0].paused


@pytest.mark.parametrize("role", [Membership.Role.ANNOTATOR, Membership.Role.REVIEWER])
def test_only_managers_change_the_queue(generation, items, role):
    member = MembershipFactory(project=generation.project, role=role)
    with pytest.raises(Forbidden):
        change(member.user, "pin", items[0])


def test_an_item_of_another_project_is_none(generation, manager, items):
    foreign = QueueItemFactory()
    with pytest.raises(Missing):
        managing.change_items(by=manager, project=generation.project, change="pin", items=[items[0].pk, foreign.pk])
    assert not QueueItem.objects.filter(pinned=True).exists()


def test_a_solution_that_was_not_drawn_waits_at_the_head_in_a_lane_of_its_own(generation, manager, items):
    solution = SolutionFactory(project=generation.project, problem__split="pool")
    item = managing.queue_solution(by=manager, project=generation.project, solution=solution)
    assert (item.lane, item.generation, item.inclusion_probability) == (Lane.PINNED, generation, None)
    assert served(MembershipFactory(project=generation.project))[0] == item
    assert managing.queue_solution(by=manager, project=generation.project, solution=solution) == item


def test_what_measures_is_never_chosen_by_hand(generation, manager):
    solution = SolutionFactory(project=generation.project, problem__split="holdout")
    with pytest.raises(DomainError, match="reserved for measuring models"):
        managing.queue_solution(by=manager, project=generation.project, solution=solution)


def test_without_a_generation_there_is_no_queue_to_add_to(generation, manager):
    Generation.objects.update(state="retired")
    solution = SolutionFactory(project=generation.project, problem__split="pool")
    with pytest.raises(Conflict, match="first generation"):
        managing.queue_solution(by=manager, project=generation.project, solution=solution)


def test_programs_do_the_same(generation, manager, items):
    annotator = MembershipFactory(project=generation.project)
    client = api_of(manager)
    address = f"/api/v1/projects/{generation.project.slug}/queue/"
    body = {"change": "hand", "items": [items[1].pk], "to": annotator.user.username}
    assert client.post(f"{address}change/", body, format="json").json() == {"changed": 1}
    assert client.post(f"{address}change/", {**body, "to": "nobody"}, format="json").status_code == 404
    assert client.post(f"{address}change/", {**body, "change": "burn"}, format="json").status_code == 400
    rows = client.get(address).json()["results"]
    assert [row["id"] for row in rows] == [item.pk for item in items]
    assert rows[1]["assigned_to"] == annotator.user.username
    client.force_authenticate(annotator.user)
    assert client.get(address).status_code == 403


def hide(generation, member, **fields):
    """A hidden gold item of this member, whose lease has expired."""
    item = QueueItemFactory(generation=generation, lane=Lane.GOLD, assigned_to=member, **fields)
    now = timezone.now()
    Lease.objects.create(
        item=item, solution=item.solution, annotator=member, state="expired", claimed_at=now, expires_at=now
    )
    return item


@pytest.mark.parametrize("name", [*managing.FIELDS, "front", "end"])
def test_no_change_reaches_hidden_gold(generation, manager, items, name):
    annotator = MembershipFactory(project=generation.project)
    hidden = hide(generation, annotator, rank=0)
    QueueItem.objects.exclude(pk=hidden.pk).update(pinned=True, paused=True, assigned_to=annotator)
    before = QueueItem.objects.values().get(pk=hidden.pk)
    change(manager, name, items[3], hidden)
    assert QueueItem.objects.values().get(pk=hidden.pk) == before


def test_hidden_gold_is_handed_to_nobody(generation, manager, items):
    annotator, other = (MembershipFactory(project=generation.project) for _ in range(2))
    hidden = hide(generation, annotator)
    assert change(manager, "hand", items[0], hidden, to=other) == 1
    hidden.refresh_from_db()
    assert hidden.assigned_to == annotator


def test_gold_is_not_queued_until_it_is_retired(generation, manager):
    [gold] = make_gold(generation.project, 1)
    for _ in range(2):
        annotator = MembershipFactory(project=generation.project)
        QueueItemFactory(generation=generation, solution=gold.solution, lane=Lane.GOLD, assigned_to=annotator)
    with pytest.raises(Conflict, match="Retire the gold first"):
        managing.queue_solution(by=manager, project=generation.project, solution=gold.solution)
    retire_gold(by=manager, gold=gold)
    item = managing.queue_solution(by=manager, project=generation.project, solution=gold.solution)
    assert (item.lane, item.assigned_to) == (Lane.PINNED, None)


@pytest.mark.django_db(transaction=True)
def test_a_move_to_the_front_and_a_sweep_of_leases_never_wait_for_each_other(generation, manager, items):
    first_held = Event()

    def sweep():
        try:
            with transaction.atomic():
                lock_items([items[0].pk])
                first_held.set()
                until(is_waited_for)
                return [item.pk for item in lock_items([items[3].pk])]
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        swept = pool.submit(sweep)
        first_held.wait(PATIENCE)
        change(manager, "front", items[3])
        assert swept.result() == [items[3].pk]
