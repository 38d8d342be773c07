"""Ends a process of a run whose test hangs, and prints where each of its threads is.

The limit of pytest-timeout raises an exception in the test. That does not end a call of C that never returns.
Hypothesis runs the example that raised it once more. And a test that has failed is torn down without a limit.
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
