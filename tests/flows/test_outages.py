"""The database crashes, restarts, loses a connection or fills its disk under a submission: kept once, and told."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from launch.errors import LaunchError
from tests.outage_world import ROOMLESS, World, finished, outage_world
from tests.waiting import until


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with outage_world(12) as world:
        yield world


@pytest.fixture
def disk(world: World) -> Path:
    if world.disk is None:
        pytest.skip(ROOMLESS)
    return world.disk


def fill(disk: Path) -> Path:
    """Take all that is left of a file system; returns the file to remove."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    return ballast


@pytest.mark.parametrize("how", [signal.SIGQUIT, signal.SIGINT], ids=["crash", "restart"])
def test_a_submission_outlives_the_database(world: World, how: signal.Signals) -> None:
    """Nor is a draft lost: what is refused is said to be, and the same again is taken by the same web server."""
    task = world.claim()
    draft = f"leases/{task['lease']['id']}/draft/"
    assert world.put(draft, {"version": 0, "body": {"marks": 1}}).status == 200
    submission = finished(task)
    world.die(how)
    refused = world.submit(submission)
    assert (refused.status, refused.body["code"]) == (503, "database_unavailable")
    assert int(refused.headers["Retry-After"]) > 0
    world.restart()
    assert until(lambda: world.put(draft, {"version": 1, "body": {"marks": 2}}).body.get("version")) == 2
    assert world.submit_until_kept(submission).status == 201
    assert world.submit_until_kept(submission).status == 200
    assert world.kept(submission) == 1


def test_a_task_that_was_given_outlives_a_crash_at_that_moment(world: World) -> None:
    submission = finished(world.claim())
    world.die(signal.SIGQUIT)
    world.restart()
    assert world.submit_until_kept(submission).status == 201


def test_a_connection_that_is_cut_within_the_transaction_leaves_nothing_half_done(world: World) -> None:
    submission = finished(world.claim())
    with psycopg.connect(world.cluster.url) as other, ThreadPoolExecutor(1) as thread:
        other.execute("LOCK TABLE annotation_steprating IN EXCLUSIVE MODE")  # the transaction waits near its end
        sent = thread.submit(world.submit, submission)
        waits = "SELECT pid FROM pg_locks WHERE relation = 'annotation_steprating'::regclass AND NOT granted"
        assert world.sql("SELECT pg_terminate_backend(%s)", until(lambda: world.sql(waits)))
        refused = sent.result()
    assert (refused.status, refused.body["code"]) == (503, "database_unavailable")
    assert world.kept(submission) == 0
    places = "SELECT (leased, done, state)::text FROM annotation_queueitem WHERE solution_id = %s"
    assert world.sql(places, submission["solution"]) == "(1,0,full)"
    assert world.submit_until_kept(submission).status == 201
    assert world.kept(submission) == 1


def test_an_answer_that_is_lost_after_the_commit_is_not_a_second_submission(world: World) -> None:
    submission = finished(world.claim())
    world.relay.lose_next = b"annotation.submit"  # of the statement that stores a label and is a transaction by itself
    refused = world.submit(submission)
    assert refused.status == 503, "the server cannot know whether it was kept"
    until(lambda: world.kept(submission) == 1)
    again = world.submit_until_kept(submission)
    assert (again.status, again.body["revision"]) == (200, 1)
    assert world.kept(submission) == 1


def test_a_full_disk_is_told_and_the_work_is_taken_once_there_is_room(world: World, disk: Path) -> None:
    submission = finished(world.claim(), comment=os.urandom(9_000).hex())  # too much for the page that is begun
    ballast = fill(disk)
    refused = world.submit(submission)
    assert (refused.status, refused.body["code"]) == (503, "storage_full")
    assert world.kept(submission) == 0
    ballast.unlink()
    assert world.submit_until_kept(submission).status == 201
    assert world.kept(submission) == 1


def test_a_journal_without_room_stops_the_database_and_loses_nothing(world: World, disk: Path) -> None:
    before = finished(world.claim())
    assert world.submit_until_kept(before).status == 201
    submission = finished(world.claim())
    ballast = fill(disk)
    until(lambda: not _takes_a_new_segment(world))
    assert world.submit(submission).status == 503
    ballast.unlink()
    until(lambda: _runs(world))
    assert world.submit_until_kept(submission).status == 201
    assert (world.kept(before), world.kept(submission)) == (1, 1)


def _takes_a_new_segment(world: World) -> bool:
    """Go on to the next segment of the journal; false once the database cannot, which is its end."""
    try:
        world.sql("SELECT pg_logical_emit_message(true, 'outage', 'x')::text")
        world.sql("SELECT pg_switch_wal()::text")
    except psycopg.OperationalError:
        return False
    return True


def _runs(world: World) -> bool:
    """Start the database where it has given up, as the owner of the processes does."""
    try:
        if not world.cluster.running:
            world.restart()
        return world.sql("SELECT 1") == 1
    except (psycopg.OperationalError, LaunchError):
        return False
