"""The embedded servers start anywhere, survive a kill, and leave no process behind."""

import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
import redis

from config.env import BASE_DIR
from launch import postgres, redis_server
from launch.embedded import servers
from launch.errors import LaunchError
from launch.ownership import sole_owner
from tests.waiting import until


def running_with(root: Path) -> list[str]:
    """The command lines of the processes that name a folder."""
    lines = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            line = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:
            continue
        if str(root) in line:
            lines.append(line)
    return lines


def wait_until_gone(root: Path) -> None:
    deadline = time.monotonic() + 20
    while left := running_with(root):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_start_stop_and_start_again_in_a_folder_with_a_space(tmp_path):
    root = tmp_path / "a folder"
    with servers(root, external={}, durable=False) as addresses:
        with psycopg.connect(addresses["DATABASE_URL"], autocommit=True) as connection:
            version, collation = connection.execute(
                "SELECT current_setting('server_version_num'), datcollate FROM pg_database WHERE datname = 'stepmark'"
            ).fetchone()
            connection.execute("CREATE TABLE kept (n int)")
        assert int(version) // 10000 == 18
        assert collation == "C.UTF-8"
        with redis.Redis.from_url(addresses["REDIS_URL"]) as client:
            assert client.ping()
    assert running_with(root) == []
    with (
        servers(root, external={}, durable=False) as addresses,
        psycopg.connect(addresses["DATABASE_URL"]) as connection,
    ):
        assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)


def test_given_addresses_start_nothing(tmp_path):
    given = {"DATABASE_URL": "postgresql://elsewhere/x", "REDIS_URL": "redis://elsewhere/0"}
    with servers(tmp_path, external=given) as addresses:
        assert addresses == given
        assert running_with(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="Only Linux ends children with a killed parent")
def test_killed_owner_takes_the_servers_along_and_the_next_start_works(tmp_path):
    environment = os.environ | {"VAR_DIR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}
    with subprocess.Popen(
        [sys.executable, "-m", "launch", "servers"], cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert "DATABASE_URL" in owner.stdout.readline()
        postmaster = int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0])
        os.kill(postmaster, signal.SIGKILL)  # leaves postmaster.pid behind
        owner.kill()
    assert (tmp_path / "postgres" / "postmaster.pid").exists()
    wait_until_gone(tmp_path)
    with servers(tmp_path, external={}, durable=False) as addresses, psycopg.connect(addresses["DATABASE_URL"]):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="The processes are found through /proc")
def test_servers_that_died_are_started_again(tmp_path):
    """A session that is at work when the postmaster dies holds the data for a while longer."""
    with servers(tmp_path, external={}) as addresses:
        assert addresses.revive() == []
        with closing(psycopg.connect(addresses["DATABASE_URL"], autocommit=True)) as connection:
            connection.execute("CREATE TABLE kept (n int)")
            connection.pgconn.send_query(b"SELECT count(*) FROM generate_series(1, 5000000)")
            os.kill(int((tmp_path / "postgres" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)
            with redis.Redis.from_url(addresses["REDIS_URL"]) as client:
                client.set("kept", "yes")
                os.kill(client.info("server")["process_id"], signal.SIGKILL)
            revived = set()
            while revived != {"Postgres", "Redis"}:
                revived |= set(addresses.revive())
        with psycopg.connect(addresses["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT count(*) FROM kept").fetchone() == (0,)
        with redis.Redis.from_url(addresses["REDIS_URL"]) as client:
            assert client.get("kept") == b"yes"
    assert running_with(tmp_path) == []


@pytest.mark.skipif(sys.platform != "linux", reason="The processes are found through /proc")
def test_a_session_that_crashed_ends_its_server_which_the_owner_starts_again(tmp_path):
    """PostgreSQL's own start after a crash was seen to wait for ever where the disk was full."""
    with servers(tmp_path, external={}, durable=False) as addresses:
        with closing(psycopg.connect(addresses["DATABASE_URL"])) as connection:
            os.kill(connection.info.backend_pid, signal.SIGKILL)
        until(lambda: addresses.revive() == ["Postgres"])
        with psycopg.connect(addresses["DATABASE_URL"]) as connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_stop_on_request(tmp_path):
    environment = os.environ | {"VAR_DIR": str(tmp_path), "DATABASE_URL": "", "REDIS_URL": ""}
    with subprocess.Popen(
        [sys.executable, "-m", "launch", "servers"], cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        assert "DATABASE_URL" in owner.stdout.readline()
        assert (tmp_path / "servers.env").exists()
        owner.send_signal(signal.SIGTERM)
        assert owner.wait(20) == 0
    assert running_with(tmp_path) == []
    assert not (tmp_path / "servers.env").exists()


def test_second_owner_is_told_where_the_first_one_is(tmp_path):
    with (
        sole_owner(tmp_path, note="http://127.0.0.1:8000/"),
        pytest.raises(LaunchError, match=rf"already running.*process {os.getpid()}, http://127.0.0.1:8000/"),
        sole_owner(tmp_path),
    ):
        pass


def test_server_that_cannot_start_is_explained(tmp_path):
    (tmp_path / "postgres").mkdir()
    (tmp_path / "postgres" / "PG_VERSION").write_text("18\n")
    with pytest.raises(LaunchError, match="PostgreSQL did not start"), servers(tmp_path, external={}):
        pass
    assert running_with(tmp_path) == []


@pytest.mark.parametrize("installed", ["redis-server", "valkey-server"])
def test_where_pip_has_no_redis_the_server_on_the_path_is_used(monkeypatch, tmp_path, installed):
    monkeypatch.setattr(redis_server.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(LaunchError, match="install `redis-server` or `valkey-server`"):
        redis_server.binary()
    server = tmp_path / installed
    server.touch(mode=0o755)
    assert redis_server.binary() == server


def test_postgresql_starts_from_a_folder_that_others_may_not_enter(tmp_path, monkeypatch):
    """Root starts it as another user, who may not enter such a folder."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    (closed / "bin").symlink_to(postgres.binaries())
    monkeypatch.setattr(postgres, "binaries", lambda: closed / "bin")
    with servers(tmp_path / "root", external={"REDIS_URL": "redis://unused"}, durable=False) as addresses:
        psycopg.connect(addresses["DATABASE_URL"]).close()
