"""Marks each test by what it needs, read off its file's imports and its fixtures.

`--fast` (`make test-fast`) runs the tests without a mark, `slow` among them, and does not even import the files of
others: torch and transformers would take 5 CPU s in each process.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from config.env import BASE_DIR

OF_FIXTURES = {
    "processes": {"browser", "live_server", "policy_url", "worker_processes"},
    "torch": {"backbone", "backbone_folders", "tiny", "zero_label"},
}
STARTERS = {"multiprocessing", "subprocess"}
TORCH = {"torch", "transformers"}
IMPORT = re.compile(r"^from ([\w.]+) import (.+)|^import ([\w.]+)", re.MULTILINE)  # an indented one runs later


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--fast`."""
    parser.addoption("--fast", action="store_true", help="leave out tests that are slow or need processes or torch")


def pytest_configure(config: pytest.Config) -> None:
    """Deselect marked tests."""
    if config.getoption("fast"):
        config.option.markexpr = " and ".join(f"not {marker}" for marker in ("slow", *OF_FIXTURES))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file that would import torch, or starts processes."""
    is_python = collection_path.suffix == ".py"
    return bool(is_python and config.getoption("fast") and needs_of_file(collection_path)) or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs processes of its own, and what needs torch."""
    for item in items:
        if isinstance(item, pytest.Function):
            for marker in _needs(item):
                item.add_marker(marker)


def _needs(item: pytest.Function) -> Iterator[str]:
    for marker, fixtures in OF_FIXTURES.items():
        if not fixtures.isdisjoint(item.fixturenames) or marker in needs_of_file(item.path):
            yield marker


@cache
def needs_of_file(file: Path) -> frozenset[str]:
    """The markers that the imports of a file of tests ask for; what it imports may import torch in turn."""
    needs = {"processes"} if STARTERS & _imports(file) else set()
    read, unread = set(), {file}
    while unread:
        read |= unread
        modules = {module for path in unread for module in _imports(path)}
        if TORCH & modules:
            needs.add("torch")
        unread = {path for module in modules if (path := _file(module))} - read
    return frozenset(needs)


@cache
def _imports(file: Path) -> frozenset[str]:
    """The modules that a file imports at once, with the packages around them."""
    modules = set()
    for package, names, module in IMPORT.findall(file.read_text()):
        modules |= {module} if module else {package, *(f"{package}.{name}" for name in re.findall(r"\w+", names))}
    return frozenset(module[: dot.start()] for module in modules for dot in re.finditer(r"\.|$", module))


@cache
def _file(module: str) -> Path | None:
    """The file of a module of ours."""
    path = BASE_DIR.joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.exists()), None)
