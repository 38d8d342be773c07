"""What is missing on a machine is said in one sentence, before anything starts."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.env import BASE_DIR
from launch.errors import LaunchError
from launch.options import read_options
from launch.preflight import check_database, check_port, check_redis, check_writable


@pytest.fixture
def silent():
    """A port that accepts connections and never says a word."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def test_taken_port(silent):
    with pytest.raises(LaunchError, match=rf"Port {silent} on 127.0.0.1 cannot be used \(Address already in use\)"):
        check_port("127.0.0.1", silent)


@pytest.mark.parametrize("host", ["192.0.2.1", "no-such-host.invalid"])
def test_host_that_is_not_here(host):
    with pytest.raises(LaunchError, match=rf"Port 8000 on {host} .*: set HOST to an address of this machine"):
        check_port(host, 8000)


def test_folder_that_cannot_be_written():
    with pytest.raises(LaunchError, match=r"cannot write to /dev/null/var \(Not a directory\)"):
        check_writable(Path("/dev/null/var"))


@pytest.mark.parametrize(("check", "scheme"), [(check_database, "postgresql"), (check_redis, "redis")])
def test_server_that_never_answers(silent, check, scheme):
    started = time.monotonic()
    with pytest.raises(LaunchError, match=f"127.0.0.1:{silent} does not answer"):
        check(f"{scheme}://someone:hidden@127.0.0.1:{silent}/0")
    assert time.monotonic() - started < 6


@pytest.mark.parametrize(("check", "scheme"), [(check_database, "postgresql"), (check_redis, "redis")])
def test_server_that_is_not_there(check, scheme):
    with pytest.raises(LaunchError, match=r"127\.0\.0\.1:1 does not answer") as refusal:
        check(f"{scheme}://someone:hidden@127.0.0.1:1/0")
    assert "hidden" not in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_address_that_is_none():
    with pytest.raises(LaunchError, match="REDIS_URL"):
        check_redis("nonsense")
    with pytest.raises(LaunchError, match="DATABASE_URL"):
        check_database("mysql://somewhere")


def test_port_that_is_no_port(monkeypatch):
    monkeypatch.setenv("PORT", "http")
    with pytest.raises(LaunchError, match="PORT is 'http', which is not a port"):
        read_options()


def test_servers_that_are_present_pass():
    check_database(os.environ["DATABASE_URL"])
    check_redis(os.environ["REDIS_URL"])


def test_command_ends_with_one_sentence(tmp_path, silent):
    environment = os.environ | {"VAR_DIR": str(tmp_path / "var"), "PORT": str(silent)}
    outcome = subprocess.run(
        [sys.executable, "-m", "launch", "run"], cwd=BASE_DIR, env=environment, capture_output=True, text=True
    )
    assert outcome.returncode == 1
    assert outcome.stdout == ""
    assert len(outcome.stderr.splitlines()) == 1
