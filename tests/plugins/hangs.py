"""Ends a test process that hangs, and prints where each of its threads is.

pytest-timeout raises an exception in the test, which is not always enough. A call into C may never return to Python.
Hypothesis runs the failed example again, without a limit. The teardown of a failed test has no limit either.
"""

import faulthandler
import os
from collections.abc import Iterator

import pytest

LIMIT = 600  # seconds for each of setup, test and teardown: more than the limit of pytest-timeout
STDERR = pytest.StashKey[int]()


def pytest_configure(config: pytest.Config) -> None:
    """Remember where errors go, before the output of tests is captured."""
    config.stash[STDERR] = os.dup(2)


def _limited(item: pytest.Item) -> Iterator[None]:
    faulthandler.dump_traceback_later(LIMIT, exit=True, file=item.config.stash[STDERR])
    try:
        return (yield)
    finally:
        faulthandler.cancel_dump_traceback_later()


pytest_runtest_setup = pytest.hookimpl(wrapper=True, tryfirst=True)(_limited)
pytest_runtest_call = pytest.hookimpl(wrapper=True, tryfirst=True)(_limited)
pytest_runtest_teardown = pytest.hookimpl(wrapper=True, tryfirst=True)(_limited)
