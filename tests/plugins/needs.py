"""Marks each test by what it needs, read off its fixtures and imports; `make test-fast` runs those without a mark."""

import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import pytest

OF_FIXTURES = {
    "processes": {"browser", "live_server", "policy_url", "worker_processes"},
    "torch": {"backbone", "backbone_folders"},
}
STARTERS = {"multiprocessing", "subprocess"}
TORCH = {"torch", "transformers"}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs processes of its own, and what needs torch."""
    for item in items:
        if isinstance(item, pytest.Function):
            for marker in _needs(item):
                item.add_marker(marker)


def _needs(item: pytest.Function) -> Iterator[str]:
    for marker, fixtures in OF_FIXTURES.items():
        if not fixtures.isdisjoint(item.fixturenames) or marker in _of_imports(item.module):
            yield marker


@cache
def _of_imports(module: ModuleType) -> frozenset[str]:
    """The markers that a test module's imports ask for; one that takes something from a user of torch needs it too."""
    sources = _sources(module)
    found = {"processes"} if _packages(sources) & STARTERS else set()
    for source in sources:
        if source in sys.modules and source.startswith("prm."):
            sources = sources | _sources(sys.modules[source])
    return frozenset(found | ({"torch"} if _packages(sources) & TORCH else set()))


def _sources(module: ModuleType) -> frozenset[str]:
    """Names of the modules that the names of a module come from."""
    values = vars(module).values()
    names = (v.__name__ if isinstance(v, ModuleType) else getattr(v, "__module__", None) for v in values)
    return frozenset(name for name in names if isinstance(name, str))


def _packages(sources: frozenset[str]) -> set[str]:
    return {source.partition(".")[0] for source in sources}
