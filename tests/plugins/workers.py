"""Real Celery workers on the test's database and Redis, for tests of what happens across processes.

A test that asks for `celery_workers` commits for real (`transactional_db`). A run begins with the files of such tests,
which have no others and share the workers. In a parallel run one process has all of them: each process would start
workers of its own.
"""

import itertools
import os
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from celery.app.control import Inspect
from celery.signals import after_task_publish
from django.conf import settings
from django.db import connection
from psycopg.conninfo import make_conninfo
from xdist.scheduler import LoadFileScheduling

from config.env import BASE_DIR, VAR_DIR
from launch.supervision import worker_commands
from launch.tether import tethered
from tests.waiting import PATIENCE, until

STARTED = pytest.StashKey["Workers"]()


class Scheduling(LoadFileScheduling):
    """A process for each file, and one for all files with workers."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return "workers" if _has_workers(BASE_DIR / file) else file


@cache
def _has_workers(file: Path) -> bool:
    return "celery_workers" in file.read_text()


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    """Return the scheduling of `--dist loadfile`."""
    return Scheduling(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files with workers first: one process has all of them, and would otherwise end last."""
    items.sort(key=lambda item: not _has_workers(item.path))


class Workers:
    """The worker processes by queue: `default`, `gpu` and `score`."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        self._names: dict[str, str] = {}
        self._numbers = itertools.count(1)

    def start(self) -> None:
        """Start those that do not run, and return when all of them are ready."""
        for queue, command in worker_commands().items():
            process = self._processes.get(queue)
            if process is None or process.poll() is not None:
                self._names[queue] = f"{queue}-{os.getpid()}-{next(self._numbers)}@test"
                with self.log(queue).open("ab") as log:
                    self._processes[queue] = subprocess.Popen(
                        tethered([*command, "--hostname", self._names[queue]]),
                        cwd=BASE_DIR, env=environment(), stdout=log, stderr=log,
                    )  # fmt: skip
        until(lambda: all(f"{name} ready." in self.log(queue).read_text() for queue, name in self._names.items()))
        # A worker subscribes to questions only after it has said that it is ready, and never hears an earlier one.
        until(lambda: len(self.inspect(timeout=1).ping() or {}) == len(self._names))

    def inspect(self, timeout: float = PATIENCE) -> Inspect:
        """What the running workers say about themselves (Celery's `inspect`, which then waits for no others)."""
        return current_app.control.inspect(destination=list(self._names.values()), timeout=timeout)

    def kill(self, queue: str) -> None:
        """`kill -9` the worker of a queue; `start` brings it back."""
        self._processes[queue].kill()
        self._processes[queue].wait()

    def stop(self) -> None:
        """Stop all workers, and kill those that do not stop within ten seconds."""
        for process in self._processes.values():
            process.terminate()
        for process in self._processes.values():
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self._processes.clear()
        self._names.clear()

    @property
    def started(self) -> bool:
        """Whether the workers run."""
        return bool(self._processes)

    def log(self, queue: str) -> Path:
        """The log file of a queue's worker."""
        return self._logs / f"worker-{queue}.log"

    def clear(self) -> None:
        """Delete waiting tasks and wait for running ones, so that the next test starts with idle workers."""
        until(lambda: self._idle() and self._idle())  # what ends between two questions may have called for more

    def _idle(self) -> bool:
        dropped = current_app.control.purge()
        at_work = [*self.inspect().active().values(), *self.inspect().reserved().values()]
        return not dropped and not any(at_work)


@pytest.fixture(scope="session")
def worker_processes(request: pytest.FixtureRequest, django_db_setup: None) -> Iterator[Workers]:
    """The workers, stopped before the test database is dropped."""
    logs = VAR_DIR / "log"
    logs.mkdir(parents=True, exist_ok=True)
    workers = request.config.stash[STARTED] = Workers(logs)
    yield workers
    workers.stop()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """Stop the workers after the last file that needs them."""
    yield
    if STARTED in item.config.stash and (nextitem is None or not _has_workers(nextitem.path)):
        item.config.stash[STARTED].stop()


@pytest.fixture
def celery_workers(transactional_db: None, worker_processes: Workers) -> Iterator[Workers]:
    """Three running workers, idle before and after the test."""
    worker_processes.start()
    yield worker_processes
    worker_processes.start()
    worker_processes.clear()


@pytest.fixture(autouse=True)
def no_task_outlives_its_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let the workers of an earlier test finish what this one queued without them, before its database goes."""
    if "transactional_db" in request.fixturenames or "live_server" in request.fixturenames:
        request.getfixturevalue("transactional_db")  # whose end comes after this one's
    queued: list[str] = []

    def note(sender: str, **_: object) -> None:
        queued.append(sender)

    after_task_publish.connect(note, weak=False)  # a weak one was not told of every task
    yield
    after_task_publish.disconnect(note)
    workers = request.config.stash.get(STARTED, None)
    if queued and workers is not None and workers.started:
        workers.clear()


def environment() -> dict[str, str]:
    """The environment of a process on the test's database and Redis."""
    database = connection.settings_dict
    address = make_conninfo(
        dbname=database["NAME"], user=database["USER"], host=database["HOST"],
        password=database["PASSWORD"] or None, port=database["PORT"] or None,
    )  # fmt: skip
    return os.environ | {"DATABASE_URL": address, "REDIS_URL": settings.REDIS_URL}
