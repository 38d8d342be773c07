"""The wait for processes that are slow, exit, or are asked to stop, with commands that stand in for them."""

import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from config.env import BASE_DIR
from launch import progress
from launch.errors import LaunchError
from launch.options import Options
from launch.startup import MOST_EXITS, await_ready
from launch.supervision import Program, _health, supervised
from tests.processes import started_with
from tests.waiting import until

SLOW, OFTEN = 3, 0.5


@pytest.fixture
def options(tmp_path):
    return Options(host="127.0.0.1", port=1, var=tmp_path / "a folder", external={})


@pytest.fixture
def shell(options):
    """A program that runs a shell script in the data folder, and is ready once the file of its name is there."""

    def make(name: str, script: str) -> Program:
        ready = options.var / f"{name} is ready"
        script = f"cd {shlex.quote(str(options.var))}; {script}"
        return Program(name, ["/bin/sh", "-c", script], {}, lambda: "" if ready.exists() else "loading")

    return make


def test_a_slow_process_is_waited_for_and_told(options, shell, capsys, monkeypatch):
    monkeypatch.setattr(progress, "REPORT_SECONDS", OFTEN)
    web = shell("web", f"sleep {SLOW}; touch 'web is ready'; exec sleep 600")
    with supervised(options, [web], {"VAR_DIR": str(options.var)}) as supervisor:
        await_ready(supervisor, [web], lambda: None)
        assert (options.var / "web is ready").exists()
    assert "Still starting: web (loading) (" in capsys.readouterr().out
    until(lambda: started_with(options.var) == [])


def test_a_process_that_exits_repeatedly_ends_the_wait_with_its_log(options, shell):
    web = shell("web", "sleep 1.2; echo 'No module named nonsense'; exit 3")
    with supervised(options, [web], {"VAR_DIR": str(options.var)}) as supervisor, pytest.raises(LaunchError) as error:
        await_ready(supervisor, [web], lambda: None)
    assert f"`web` exited {MOST_EXITS} times" in str(error.value)
    assert "No module named nonsense" in str(error.value)
    until(lambda: started_with(options.var) == [])


def test_a_process_that_exits_once_is_started_again(options, shell):
    web = shell("web", "test -f tried && { touch 'web is ready'; exec sleep 600; }; touch tried; exit 1")
    with supervised(options, [web], {"VAR_DIR": str(options.var)}) as supervisor:
        await_ready(supervisor, [web], lambda: None)


def test_the_others_start_after_the_first_and_are_waited_for_by_themselves(options, shell):
    web = shell("web", "touch 'web is ready'; exec sleep 600")
    worker = shell("worker", f"touch started; sleep {SLOW}; touch 'worker is ready'; exec sleep 600")
    with supervised(options, [web, worker], {"VAR_DIR": str(options.var)}) as supervisor:
        await_ready(supervisor, [web], lambda: None)
        assert not (options.var / "started").exists()
        supervisor.start_all()
        await_ready(supervisor, [worker], lambda: None)
        assert (options.var / "worker is ready").exists()


def test_a_supervisor_that_is_killed_ends_the_wait(options, shell):
    web = shell("web", "exec sleep 600")
    with supervised(options, [web], {"VAR_DIR": str(options.var)}) as supervisor:
        until(supervisor.states)
        supervisor.process.kill()
        with pytest.raises(LaunchError, match="The supervisor stopped unexpectedly"):
            await_ready(supervisor, [web], lambda: None)
    until(lambda: started_with(options.var) == [])


def test_the_web_is_asked_directly_and_by_a_name_that_every_setting_allows(monkeypatch, live_server):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    host, port = live_server.thread.host, live_server.thread.port
    assert _health(Options(host=host, port=port, var=Path(), external={})) == ""
    assert _health(Options(host=host, port=1, var=Path(), external={})) == "no answer yet"


WAITING = """
import sys
from launch import __main__ as launch
from launch.supervision import Program

launch.check = lambda options: None
launch.frontend.build = lambda: None
launch.prepare = lambda options, environment: "Sign in as somebody."
never = Program("web", ["/bin/sh", "-c", "exec sleep 600"], {}, lambda: "loading")
launch.programs = lambda options: [never]
print("begun", flush=True)
sys.exit(launch.main(["run"]))
"""


@pytest.fixture(scope="module")
def var(tmp_path_factory):
    """The data folder: the first start creates its database, for 1.5 CPU s."""
    return tmp_path_factory.mktemp("interrupted")


@pytest.mark.skipif(sys.platform != "linux", reason="The processes are found through /proc")
@pytest.mark.parametrize(
    "signals", [[signal.SIGINT], [signal.SIGINT, signal.SIGINT], [signal.SIGTERM], [signal.SIGHUP], [signal.SIGKILL]]
)
def test_nothing_is_left_of_a_start_that_is_interrupted(var, signals):
    environment = os.environ | {"VAR_DIR": str(var), "DATABASE_URL": "", "REDIS_URL": ""}
    with subprocess.Popen(
        [sys.executable, "-c", WAITING], cwd=BASE_DIR, env=environment, stdout=subprocess.PIPE, text=True
    ) as owner:
        until(lambda: "sleep 600 " in started_with(var))
        for number in signals:
            owner.send_signal(number)
            time.sleep(0.1)
        assert owner.wait(60) == (-signal.SIGKILL if signal.SIGKILL in signals else 0)
    until(lambda: started_with(var) == [])
