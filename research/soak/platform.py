"""The platform under test, started as with `make run`, and how to kill its processes."""

import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from launch.options import BASE_DIR
from launch.tether import tethered

START_SECONDS = 180
STOP_SECONDS = 60
# A part of the command line of each process.
MARKS = {
    "web": "config.wsgi",
    "default": "--queues default",
    "gpu": "--queues gpu",
    "score": "--queues score",
    "beat": "config.celery beat",
    "trainer": "-m prm --die-with-parent train",
    "Redis": "redis-server",
    "PostgreSQL": "bin/postgres -D",
}


@dataclass
class Platform:
    """A running platform. Only its own descendants are ever killed."""

    process: subprocess.Popen[bytes]
    address: str

    def healthy(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.address}healthz", timeout=5):
                return True
        except (urllib.error.URLError, OSError):
            return False

    def find(self, part: str) -> list[psutil.Process]:
        """The processes of a part, the parent first."""
        processes = []
        for process in psutil.Process(self.process.pid).children(recursive=True):
            try:
                if MARKS[part] in " ".join(process.cmdline()):
                    processes.append(process)
            except psutil.Error:
                continue
        return processes

    def kill(self, part: str, *, child: bool = False) -> bool:
        """`kill -9` the part's main process, or one of its children; returns False if it does not run."""
        processes = self.find(part)
        if not processes:
            return False
        victim = processes[-1] if child else processes[0]
        try:
            victim.send_signal(signal.SIGKILL)
        except psutil.Error:
            return False
        return True


@contextmanager
def platform(var: Path, port: int) -> Iterator[Platform]:
    """Run `python -m launch run` with its own folder and port, without the demo project."""
    (var / "log").mkdir(parents=True, exist_ok=True)
    (var / "demo_accounts.txt").write_text("No demo project: this is a soak.\n")  # with this file, no demo is created
    # External servers must not be killed.
    environment = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
    environment |= {"VAR_DIR": str(var), "PORT": str(port), "HOST": "127.0.0.1", "OMP_NUM_THREADS": "1"}
    with (var / "log" / "launch.log").open("ab") as log:
        process = subprocess.Popen(
            tethered([sys.executable, "-m", "launch", "run"]),
            cwd=BASE_DIR, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )  # fmt: skip
    running = Platform(process, f"http://127.0.0.1:{port}/")
    try:
        deadline = time.monotonic() + START_SECONDS
        while not running.healthy():
            if process.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"The platform did not start: see {var / 'log' / 'launch.log'}.")
            time.sleep(0.5)
        yield running
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()  # its children end with it
            process.wait()
