"""`make run`'s process owner: up, refused twice, and gone without a trace, however it ends."""

import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.env import BASE_DIR
from tests.processes import free_port, started_with
from tests.waiting import PATIENCE, until

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="Processes are counted through /proc")


class Owner:
    """`python -m launch run` in a data folder of its own."""

    def __init__(self, var: Path) -> None:
        self.port = free_port()
        unset = {"DATABASE_URL": "", "REDIS_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings.local"}
        self.environment = os.environ | unset | {"VAR_DIR": str(var), "PORT": str(self.port)}
        self.var = var
        self.process = self.start()

    def start(self) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "launch", "run"]
        return subprocess.Popen(
            command, cwd=BASE_DIR, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def await_line(self, words: str) -> str:
        """What it printed up to the line with these words."""
        assert self.process.stdout is not None
        said = ""
        while words not in said:
            line = self.process.stdout.readline()
            assert line, said
            said += line
        return said

    def left(self) -> list[str]:
        """Processes that were started with this data folder."""
        return started_with(self.var)

    def await_end(self) -> None:
        until(lambda: not self.left())


@pytest.fixture(scope="module")
def var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data folder, which the first start makes ready for the next."""
    var = tmp_path_factory.mktemp("run") / "data folder"
    var.mkdir()
    # The demo project has a test of its own; here it was made by an earlier run.
    (var / "demo_accounts.txt").write_text("Sign in as somebody.\n")
    return var


@pytest.fixture
def owner(var: Path) -> Iterator[Owner]:
    owner = Owner(var)
    yield owner
    owner.process.kill()
    owner.process.wait()
    owner.await_end()


def test_runs_says_where_it_is_and_stops_cleanly(owner: Owner) -> None:
    said = owner.await_line("Ctrl-C")
    assert f"http://127.0.0.1:{owner.port}/" in said
    assert "Sign in as somebody." in said
    with urllib.request.urlopen(f"http://127.0.0.1:{owner.port}/healthz", timeout=10) as response:
        assert response.read() == b'{"database": "ok", "redis": "ok"}'

    with owner.start() as second:
        refusal, _ = second.communicate(timeout=PATIENCE)
    assert second.returncode == 1
    assert refusal.startswith("Stepmark is already running from this folder")
    assert len(refusal.splitlines()) == 1

    owner.process.send_signal(signal.SIGINT)
    assert owner.process.wait(PATIENCE) == 0
    assert owner.left() == []


@pytest.mark.parametrize(("moment", "processes"), [("Ctrl-C", 5), ("The workers are ready", 9)])
def test_killed_owner_leaves_no_process(owner: Owner, moment: str, processes: int) -> None:
    owner.await_line(moment)
    assert len(owner.left()) >= processes
    owner.process.kill()
    owner.process.wait()
    owner.await_end()
