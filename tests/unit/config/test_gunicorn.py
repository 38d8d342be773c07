"""The web application under gunicorn with several processes, as it is served everywhere."""

import os
import re
import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from config.env import BASE_DIR
from launch.tether import tethered
from tests.waiting import until

PROCESSES = 2


class Server:
    """gunicorn with PROCESSES processes, on a port and with a folder for metrics of its own."""

    def __init__(self, metrics: Path) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        command = [str(Path(sys.executable).parent / "gunicorn"), "config.wsgi", "--config", "python:config.gunicorn"]
        command += ["--bind", f"127.0.0.1:{self.port}", "--workers", str(PROCESSES), "--threads", "4"]
        environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "config.settings.local",
            "PROMETHEUS_MULTIPROC_DIR": str(metrics),
        }
        self.process = subprocess.Popen(tethered(command), cwd=BASE_DIR, env=environment)

    def get(self, path: str) -> str:
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as response:
            return response.read().decode()

    def answers(self) -> bool:
        assert self.process.poll() is None
        try:
            return bool(self.get("/healthz"))
        except (urllib.error.URLError, OSError):
            return False

    def children(self) -> list[int]:
        path = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        return [int(pid) for pid in path.read_text().split()]


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    """The folder for metrics, with what an earlier start left there."""
    folder = tmp_path / "metrics"
    folder.mkdir()
    (folder / "counter_1.db").write_bytes(b"of an earlier start")
    return folder


@pytest.fixture
def server(metrics: Path) -> Iterator[Server]:
    server = Server(metrics)
    try:
        until(server.answers)
        yield server
    finally:
        server.process.terminate()
        server.process.wait(60)


@pytest.mark.skipif(sys.platform != "linux", reason="The processes are found through /proc")
def test_metrics_are_the_sum_over_the_processes_and_stay_when_one_dies(server: Server, metrics: Path) -> None:
    def asked() -> int:
        found = re.search(r'_total_by_view_transport_method_total{.*view="healthz"} (\S+)', server.get("/metrics"))
        return int(float(found[1])) if found else 0

    assert not (metrics / "counter_1.db").exists()
    before = asked()
    for _ in range(20):
        server.get("/healthz")
    assert [asked() for _ in range(10)] == [before + 20] * 10

    victim = server.children()[0]
    (metrics / f"gauge_livesum_{victim}.db").touch()
    os.kill(victim, signal.SIGKILL)
    until(lambda: victim not in server.children() and len(server.children()) == PROCESSES)
    assert not (metrics / f"gauge_livesum_{victim}.db").exists()
    assert asked() == before + 20
