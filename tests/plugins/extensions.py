"""Packages outside the product, made for one test, that add to a registry through an entry point."""

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import Protocol

import pytest

from prm.registry import Registry


class InstallExtension(Protocol):
    def __call__(self, name: str, source: str, registry: Registry) -> None: ...


@pytest.fixture
def install_extension(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InstallExtension]:
    """Installs a module `name` with an entry point in the registry's group, as pip would; it goes with the test."""
    root = tmp_path / "site-packages"
    root.mkdir()
    monkeypatch.syspath_prepend(str(root))
    before = set(sys.modules)

    def install(name: str, source: str, registry: Registry) -> None:
        (root / f"{name}.py").write_text(dedent(source))
        metadata = root / f"{name}-1.0.dist-info"
        metadata.mkdir(exist_ok=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
        (metadata / "entry_points.txt").write_text(f"[{registry.group}]\n{name} = {name}\n")
        importlib.invalidate_caches()
        monkeypatch.setattr(registry, "_entries", dict(registry._entries))
        monkeypatch.setattr(registry, "_loaded", False)

    yield install
    for name in set(sys.modules) - before:
        if (root / f"{name}.py").exists():
            del sys.modules[name]
