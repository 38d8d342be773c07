"""Pages of lists: each row once, at the cost of one page, whatever is added meanwhile."""

import pytest

from annotation.models import AnswerCheck, JobEntry, Membership, TrainingRun
from tests.api_client import api_of
from tests.factories import (
    GenerationFactory,
    MembershipFactory,
    QueueItemFactory,
    SnapshotFactory,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def manager():
    return MembershipFactory(role=Membership.Role.MANAGER)


@pytest.fixture
def client(manager):
    return api_of(manager.user)


def read(client, address):
    """The rows of every page of a list."""
    rows = []
    while address:
        page = client.get(address).json()
        rows += page["results"]
        address = page["next"]
    return rows


def test_the_pages_hold_each_row_once_in_order(client, manager):
    made = [SnapshotFactory(project=manager.project).pk for _ in range(7)]
    address = f"/api/v1/projects/{manager.project.slug}/snapshots/?limit=3"
    assert [row["id"] for row in read(client, address)] == made[::-1]


def test_a_row_that_is_added_meanwhile_moves_no_other(client, manager):
    made = [SnapshotFactory(project=manager.project).pk for _ in range(4)]
    first = client.get(f"/api/v1/projects/{manager.project.slug}/snapshots/?limit=2").json()
    SnapshotFactory(project=manager.project)
    second = client.get(first["next"]).json()
    assert [row["id"] for row in first["results"] + second["results"]] == made[::-1]
    assert second["next"] is None


def test_an_order_by_several_fields_is_continued(client, manager):
    generation = GenerationFactory(project=manager.project)
    items = [
        QueueItemFactory(generation=generation, rank=rank, pinned=pinned) for pinned in (0, 1) for rank in (2, 1, 2)
    ]
    rows = read(client, f"/api/v1/projects/{manager.project.slug}/queue/?limit=1")
    expected = sorted(items, key=lambda item: (-item.pinned, item.rank, item.pk))
    assert [row["id"] for row in rows] == [item.pk for item in expected]


def test_an_order_by_times_is_continued(client, manager):
    for _ in range(5):
        AnswerCheck.objects.create(project=manager.project, state="done")
    rows = read(client, f"/api/v1/projects/{manager.project.slug}/jobs/?limit=2")
    assert [f"answers-{row['id']}" for row in rows] == [entry.key for entry in JobEntry.objects.all()]


def test_filters_stay_in_the_address_of_the_next_page(client, manager):
    for state in ("open", "upheld"):
        address = f"/api/v1/projects/{manager.project.slug}/disputes/?state={state}&limit=1"
        assert client.get(address).json() == {"next": None, "results": []}


@pytest.mark.parametrize("query", ["limit=0", "limit=501", "limit=x", "cursor=x"])
def test_a_page_that_cannot_be_is_refused_by_its_field(client, manager, query):
    answer = client.get(f"/api/v1/projects/{manager.project.slug}/snapshots/?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["extra"]["field"] == query.partition("=")[0]


def test_a_cursor_of_another_list_is_refused(client, manager):
    for _ in range(2):
        SnapshotFactory(project=manager.project)
    address = f"/api/v1/projects/{manager.project.slug}"
    cursor = client.get(f"{address}/snapshots/?limit=1").json()["next"].partition("cursor=")[2]
    answer = client.get(f"{address}/gold/?cursor={cursor}")
    assert (answer.status_code, answer.json()["extra"]) == (400, {"field": "cursor"})


def test_a_page_costs_the_same_whatever_the_number_of_rows(client, manager, django_assert_max_num_queries):
    for number in range(20):
        TrainingRun.objects.create(project=manager.project, number=number, trigger="manual", seed=0, state="done")
    with django_assert_max_num_queries(6):
        client.get(f"/api/v1/projects/{manager.project.slug}/jobs/?limit=20")
