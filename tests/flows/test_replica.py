"""Pages, snapshots and fits read from a real replica, and lack nothing that people rely on."""

import os
from threading import Timer

import psycopg
import pytest
from django.db import connection, connections
from django.test import Client
from django.urls import reverse
from structlog.testing import capture_logs

from annotation.core import replica
from annotation.core.locks import advisory_lock
from annotation.labels.consensus.fits import fit_for, scope_of
from annotation.labels.datasets import record_stream
from annotation.labels.datasets.snapshots import create_snapshot
from labelling_ui.own_writes import COOKIE
from tests.every_page import addresses
from tests.factories import SolutionFactory
from tests.manager_world import create_empty_project, create_people, fill
from tests.replicas import ABSENT, replicating
from tests.waiting import until

pytestmark = [
    pytest.mark.django_db(transaction=True, databases=["default", replica.ALIAS]),
    pytest.mark.skipif("EMBEDDED_TEST_SERVER" not in os.environ, reason=ABSENT),
]


@pytest.fixture(scope="module")
def running(django_db_setup):
    """The replica as a setting of this process. No test empties the tables of a mirror."""
    with replicating() as server:
        entry = {**connections.settings["default"], "HOST": str(server.sockets)}
        connections.settings[replica.ALIAS] = entry | {"TEST": {**entry["TEST"], "MIRROR": "default"}}
        yield server
    del connections.settings[replica.ALIAS]


@pytest.fixture
def server(running, monkeypatch):
    """The running replica. What is acknowledged is durable, as outside of tests."""
    if not running.running:
        running.start()
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = on")
    monkeypatch.setattr(replica, "_recency", replica._Recency())
    yield running
    connections[replica.ALIAS].close()
    connection.close()


@pytest.fixture
def project():
    people = create_people()
    project = create_empty_project(people)
    fill(project, people)
    return project


@pytest.fixture
def manager(server, project):
    client = Client()
    client.force_login(project.memberships.filter(role="manager").first().user)
    return client


@pytest.fixture
def paused(server, project):
    """The replica, which shows nothing of what is written from now on."""
    until(lambda: replica.describe_lag() == "ok")
    server.ask("SELECT pg_wal_replay_pause()")
    yield server
    if server.running:
        server.ask("SELECT pg_wal_replay_resume()")


@pytest.fixture
def pages_read_there(monkeypatch):
    """Other tests write to the same server, which a page would wait for no longer than a moment."""
    monkeypatch.setattr(replica._Recency, "is_up_to_date", lambda recency: True)


def snapshot_of(project, on_record=lambda done: None):
    """The number of solutions of a new snapshot, and where each was read."""
    places = []

    def watch(done):
        places.append(where())
        on_record(done)

    snapshot = create_snapshot(by=None, project=project, filters={"min_annotations": 0}, on_record=watch)
    return snapshot.counts["solutions"], places


def where():
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_is_in_recovery()")
        return "replica" if cursor.fetchone() == (True,) else "primary"


def csv_of(client, project):
    response = client.get(reverse("solutions", args=[project.slug]), {"download": "csv"})
    return b"".join(response.streaming_content).decode().splitlines()


def test_snapshots_and_fits_read_on_the_replica(server, project):
    with capture_logs() as logs:
        assert snapshot_of(project) == (3, ["replica"] * 3)
        before = server.statements()
        assert fit_for(by=None, project=project, scope=scope_of(project)).state == "done"
    assert "annotation_annotation" in server.statements().removeprefix(before)
    assert logs == []


def test_a_snapshot_has_what_was_acknowledged_before_it(paused, project, monkeypatch):
    SolutionFactory(project=project)
    Timer(0.3, paused.ask, ["SELECT pg_wal_replay_resume()"]).start()
    assert snapshot_of(project) == (4, ["replica"] * 4), "it waits until the replica has caught up"

    paused.ask("SELECT pg_wal_replay_pause()")
    monkeypatch.setattr(replica, "JOB_WAIT", 0.1)
    SolutionFactory(project=project)
    with capture_logs() as logs:
        assert snapshot_of(project) == (5, ["primary"] * 5), "it does not wait for longer"
    assert [entry["event"] for entry in logs] == ["replica_not_used"]


def test_a_snapshot_that_the_replica_cancels_is_read_on_the_primary(server, project, monkeypatch):
    monkeypatch.setattr(record_stream, "AT_ONCE", 1)
    known = connections[replica.ALIAS].get_connection_params()

    def vacuum(done):
        if where() == "replica":
            address = known | {"host": connections.settings["default"]["HOST"], "cursor_factory": psycopg.Cursor}
            with psycopg.connect(**address, autocommit=True) as primary:
                primary.execute("CREATE TABLE vacuumed AS SELECT 1")
                primary.execute("DELETE FROM vacuumed")
                primary.execute("VACUUM vacuumed")
                primary.execute("DROP TABLE vacuumed")
                [position] = primary.execute("SELECT pg_current_wal_insert_lsn()").fetchone()
            until(lambda: server.ask(f"SELECT pg_last_wal_replay_lsn() >= '{position}'"))

    with capture_logs() as logs:
        assert snapshot_of(project, vacuum) == (3, ["replica"] + ["primary"] * 3)
    assert [entry["event"] for entry in logs] == ["replica_failed"]
    assert snapshot_of(project) == (3, ["replica"] * 3), "the next one reads there again"


def test_no_page_of_a_project_needs_the_primary(server, project, manager, pages_read_there):
    pages = [page for page in addresses(project) if f"/{project.slug}/" in page]
    assert len(pages) > 60
    until(lambda: replica.describe_lag() == "ok")
    before = server.statements()
    with capture_logs() as logs:
        statuses = {page: manager.get(page).status_code for page in pages}
    assert {page: status for page, status in statuses.items() if status >= 500} == {}
    assert [entry for entry in logs if entry["event"].startswith("replica")] == []
    read = server.statements().removeprefix(before)
    assert all(table in read for table in ("annotation_steprating", "annotation_modelversion", "annotation_lease"))


def test_a_long_list_is_read_on_the_replica_to_its_end(server, project, manager, pages_read_there, monkeypatch):
    monkeypatch.setattr(replica, "BATCH", 2)
    until(lambda: replica.describe_lag() == "ok")
    rows = csv_of(manager, project)
    assert (len(rows), where()) == (4, "primary")
    monkeypatch.setattr(replica, "BATCH", 500)
    assert csv_of(manager, project) == rows


def test_people_see_what_they_have_just_written(paused, project, manager, pages_read_there):
    made = manager.post(
        reverse("machine-add", args=[project.slug]), {"name": "llama", "model_name": "llama-3", "prompt_version": "1"}
    )
    assert manager.get(made.url).status_code == 200
    del manager.cookies[COOKIE]  # as it ends after five seconds
    assert manager.get(made.url).status_code == 404, "the replica does not have it yet"


def test_pages_leave_a_replica_that_is_behind(paused, project):
    assert replica.read_recent(where) == "replica"
    SolutionFactory(project=project)
    replica._recency.forget()
    with capture_logs() as logs:
        assert replica.read_recent(where) == "primary"
    assert [entry["event"] for entry in logs] == ["replica_not_used"]
    assert "behind" in replica.describe_lag()
    paused.ask("SELECT pg_wal_replay_resume()")
    replica._recency.forget()
    until(lambda: replica.read_recent(where) == "replica")


def test_what_a_replica_cannot_do(server, project):
    def write():
        places.append(where())
        SolutionFactory(project=project)

    def lock():
        with advisory_lock("a lock"):
            pass

    places = []
    replica.read_current(write)
    assert (places, project.solutions.count()) == (["replica", "primary"], 4)
    with pytest.raises(RuntimeError, match="of a replica"):
        replica.read_current(lock)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_unlock_all()")


def test_a_replica_that_ends_stops_nothing(server, project, manager):
    page, health = reverse("solutions", args=[project.slug]), reverse("healthz")
    until(lambda: replica.read_recent(where) == "replica")
    until(lambda: manager.get(health).json()["replica"] == "ok")
    assert manager.get(page).status_code == 200

    solutions, places = snapshot_of(project, lambda done: server.running and server.kill())
    assert (solutions, set(places[1:])) == (3, {"primary"})
    monitored = manager.get(health)
    assert (monitored.status_code, monitored.json()["replica"]) == (200, "does not answer")
    replica._recency._caught_up, replica._recency._known_until = True, float("inf")  # as if it had answered just now
    with capture_logs() as logs:
        assert manager.get(page).status_code == 200
    assert [entry["event"] for entry in logs] == ["replica_failed"]
    with capture_logs() as logs:
        assert (manager.get(page).status_code, len(csv_of(manager, project)), snapshot_of(project)[0]) == (200, 4, 3)
    assert [entry["event"] for entry in logs] == ["replica_not_used"] * 2, "once for pages, once for the snapshot"
