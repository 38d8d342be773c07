"""Real PostgreSQL and Redis for every test run: those of DATABASE_URL and REDIS_URL, else embedded ones.

The controlling pytest process owns the embedded servers; they are tied to its life. Each xdist worker gets
a database of its own (pytest-django), a Redis database and a data folder of its own. All this happens on import,
because the conftest files below this one import models.
"""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import django
import hypothesis
import pytest
from django.utils import translation

from launch.catalogues import compile_catalogues
from launch.embedded import servers
from launch.errors import LaunchError
from launch.ownership import sole_owner

ROOT = Path(__file__).resolve().parent.parent
RUNS_AT_ONCE = 8  # test runs in one checkout at the same time, each with servers of its own
RUNNING = ExitStack()
# Each run draws other examples: 40 of them a property are many over a week of runs.
hypothesis.settings.register_profile("busy machine", deadline=None, max_examples=40)
hypothesis.settings.load_profile("busy machine")
pytest_plugins = [
    f"tests.plugins.{name}"
    for name in ("browser", "databases", "extensions", "hangs", "needs", "policy", "whole_files", "workers")
]


def _start_servers() -> None:
    compile_catalogues()
    for number in range(1, RUNS_AT_ONCE + 1):
        root = ROOT / "var" / "test" / str(number)
        try:
            RUNNING.enter_context(sole_owner(root))
        except LaunchError:
            continue
        if not os.environ.get("DATABASE_URL"):
            os.environ["EMBEDDED_TEST_SERVER"] = "1"
        try:
            os.environ.update(RUNNING.enter_context(servers(root, external=os.environ, durable=False)))
        except LaunchError as error:
            raise pytest.UsageError(str(error)) from None
        os.environ["VAR_DIR"] = str(root)
        return
    raise pytest.UsageError(f"{RUNS_AT_ONCE} test runs use this checkout already: wait for one to end.")


def _take_own_part(worker: str) -> None:
    number = int(re.sub(r"\D", "", worker)) + 1
    os.environ["REDIS_URL"] = re.sub(r"(db=|/)\d+$", rf"\g<1>{number}", os.environ["REDIS_URL"])
    folder = Path(os.environ["VAR_DIR"]) / worker
    folder.mkdir(exist_ok=True)
    os.environ["VAR_DIR"] = str(folder)


if "PYTEST_XDIST_WORKER" in os.environ:
    _take_own_part(os.environ["PYTEST_XDIST_WORKER"])
else:
    _start_servers()
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
# Tests run beside each other: a second thread of torch, here or in a trainer, would only wait for a core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"  # playwright's loop runs beside the ORM
django.setup()


def pytest_xdist_setupnodes() -> None:
    """Hide the settings from xdist's workers: they would read them before they choose a database of their own."""
    del os.environ["DJANGO_SETTINGS_MODULE"]


def pytest_unconfigure() -> None:
    """Stop the servers; if the run is killed, they end with it."""
    RUNNING.close()


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """Reset the language, which a request leaves set in the thread that runs the next test."""
    yield
    translation.deactivate()
