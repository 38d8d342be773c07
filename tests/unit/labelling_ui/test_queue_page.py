"""The database queries of the queue's page."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Lease, Membership, Project, QueueItem
from tests.factories import GenerationFactory, MembershipFactory, QueueItemFactory

pytestmark = pytest.mark.django_db


def test_the_queue_reads_its_order_and_what_waits_for_machines_from_indexes(
    manager: Client, project: Project, django_assert_max_num_queries
) -> None:
    with django_assert_max_num_queries(20) as asked:
        manager.get(f"/p/{project.slug}/queue/")
    items = [query["sql"] for query in asked if 'FROM "annotation_queueitem"' in query["sql"]]
    in_turn = next(sql for sql in items if "CASE" in sql.partition("ORDER BY")[2])
    waiting = next(sql for sql in items if "\"taker\" = 'machine'" in sql)
    assert any("Index Scan using queue_item_turn" in line for line in plan_of(in_turn)), plan_of(in_turn)
    assert not any("Sort" in line for line in plan_of(in_turn)), plan_of(in_turn)
    assert any("queue_item_for_machine" in line for line in plan_of(waiting)), plan_of(waiting)


def plan_of(statement: str) -> list[str]:
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off; SET LOCAL enable_sort = off; SET LOCAL enable_bitmapscan = off")
        cursor.execute(f"EXPLAIN {statement}")
        return [line for (line,) in cursor.fetchall()]


def test_the_items_of_a_person_are_those_assigned_and_those_claimed(manager: Client, project: Project) -> None:
    person = MembershipFactory(project=project)
    items = QueueItemFactory.create_batch(4, generation=GenerationFactory(project=project, number=99, state="retired"))
    assigned, claimed, ended, _other = items
    QueueItem.objects.filter(pk=assigned.pk).update(assigned_to=person)
    _lease(claimed, person, Lease.State.ACTIVE)
    _lease(ended, person, Lease.State.RELEASED)
    page = manager.get(f"/p/{project.slug}/queue/", {"person": person.pk})
    assert {item.pk for item in page.context["listing"]} == {assigned.pk, claimed.pk}


def _lease(item: QueueItem, person: Membership, state: Lease.State) -> None:
    now = timezone.now()
    times = {"claimed_at": now, "expires_at": now + timedelta(hours=1)}
    Lease.objects.create(item=item, solution=item.solution, annotator=person, state=state, **times)
