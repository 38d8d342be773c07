"""A process of a parallel run collects a file when it is that file's turn.

pytest-xdist lets each process collect every test: 17 CPU s a process for this suite, of which the imports are a third.
With `--dist loadfile` a process takes whole files anyway. Here it collects one item for each file, imports nothing,
and collects the file's tests when it runs that item.
"""

import gc
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import pytest
from xdist.workermanage import WorkerController

from tests.plugins.needs import needs_of_file

WHOLE_FILES = "whole_files"  # what the controlling process says to the others


class LaterFile(pytest.File):
    """A file that is not imported yet."""

    def collect(self) -> Iterator["FileTests"]:
        """Return one item."""
        yield FileTests.from_parent(self, name="tests")


class FileTests(pytest.Item):
    """All tests of a file: one item for xdist."""

    def collect_tests(self) -> list[pytest.Item]:
        """Import the file and return its tests, those that `-k` and `-m` select."""
        assert self.parent is not None
        module = pytest.Module.from_parent(self.parent.parent, path=self.path)
        with without_garbage_collection():
            tests = list(self.session.genitems(module))
            self.config.hook.pytest_collection_modifyitems(session=self.session, config=self.config, items=tests)
        return tests

    def runtest(self) -> None:
        """Do nothing: `pytest_runtest_protocol` runs the tests one by one."""


@contextmanager
def without_garbage_collection() -> Iterator[None]:
    """Collect tests in two thirds of the time: nearly all objects made here live to the end."""
    gc.disable()
    yield
    gc.enable()
    gc.freeze()


def pytest_configure_node(node: WorkerController) -> None:
    """Choose: a test that is named (`file.py::test`) and those that failed last are collected as ever."""
    config = node.config
    named = any("::" in argument for argument in config.args) or config.getoption("lf", default=False)
    node.workerinput[WHOLE_FILES] = config.getvalue("dist") == "loadfile" and not named


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> LaterFile | None:
    """Do not import the file yet."""
    chosen = getattr(parent.config, "workerinput", {}).get(WHOLE_FILES)
    return LaterFile.from_parent(parent, path=module_path) if chosen else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Collect without garbage collection."""
    with without_garbage_collection():
        return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> Iterator[None]:
    """Select no files by `-k` and `-m`, which select their tests. Files with expensive tests come first."""
    if not any(isinstance(item, FileTests) for item in items):
        yield
        return
    items.sort(key=lambda item: not needs_of_file(item.path))
    expressions = config.option.keyword, config.option.markexpr
    config.option.keyword = config.option.markexpr = ""
    yield
    config.option.keyword, config.option.markexpr = expressions


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Run the tests of a file."""
    if not isinstance(item, FileTests):
        return None
    session = item.session
    place = session.items.index(item)
    tests = item.collect_tests()
    if not tests:
        session._setupstate.teardown_exact(nextitem)  # the test before left what it shares with this file
    for test, following in pairwise([*tests, nextitem]):
        session.items[place] = test  # xdist compares each report with the item at this place
        item.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
        if session.shouldfail or session.shouldstop:
            break
    return True
