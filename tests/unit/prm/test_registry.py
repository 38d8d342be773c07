"""What may be added by name: the product's own entries, those of other packages, and what is refused."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from prm.errors import ExtensionError, UnknownNameError
from prm.registry import Registry
from tests.plugins.extensions import InstallExtension


def shouts(monkeypatch: pytest.MonkeyPatch, *built_in: str) -> Registry[Callable[[str], str]]:
    """A registry that an extension finds as `sys.shouts`."""
    registry = Registry[Callable[[str], str]]("stepmark.tests", "shout", built_in=built_in)
    monkeypatch.setattr(sys, "shouts", registry, raising=False)
    return registry


LOUD = """
import sys

@sys.shouts.register("loud")
def loud(text):
    return text.upper()
"""


def test_what_is_decorated_is_registered_and_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = shouts(monkeypatch)

    @registry.register("quiet")
    def quiet(text: str) -> str:
        return text.lower()

    assert registry.get("quiet") is quiet
    assert quiet("A") == "a"
    assert registry.names() == ("quiet",) == tuple(registry)
    assert "quiet" in registry
    assert len(registry) == 1


def test_a_package_outside_adds_an_entry(install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch) -> None:
    registry = shouts(monkeypatch)
    install_extension("loud_shouts", LOUD, registry)
    assert "loud_shouts" not in sys.modules  # nothing is imported before the registry is read
    assert registry.get("loud")("a") == "A"


def test_built_in_entries_come_first_in_their_order(
    install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    template = "import sys\nsys.shouts.register('{0}')(lambda text: text)\n"
    registry = shouts(monkeypatch, "own_one", "own_two")
    install_extension("all_first", template.format("of another package"), registry)
    elsewhere = Registry[object]("elsewhere", "thing", built_in=())
    for name in ("one", "two"):
        install_extension(f"own_{name}", template.format(name), elsewhere)
    __import__("own_two")  # whoever imports a module first does not change the order
    assert registry.names() == ("one", "two", "of another package")


def test_an_unknown_name_is_refused_with_the_names_that_exist(
    install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = shouts(monkeypatch)
    install_extension("loud_shouts", LOUD, registry)
    with pytest.raises(UnknownNameError, match=r"There is no shout 'lod'\. Choose one of: loud\."):
        registry.get("lod")


def test_a_name_is_registered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    registry = shouts(monkeypatch)
    registry.add("quiet", str.lower, module="a.package")
    with pytest.raises(
        ExtensionError, match=r"another\.package registers the name 'quiet' in stepmark\.tests, which is already in use"
    ):
        registry.add("quiet", str.upper, module="another.package")
    assert registry.get("quiet") is str.lower


def test_an_extension_that_fails_is_named_and_registers_once_it_is_mended(
    install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = shouts(monkeypatch)
    install_extension("loud_shouts", LOUD + "raise RuntimeError('out of breath')\n", registry)
    for _ in range(2):  # it is not silently missing from then on
        with pytest.raises(ExtensionError, match=r"loud_shouts.*RuntimeError: out of breath"):
            registry.names()
    install_extension("loud_shouts", LOUD, registry)
    for cached in Path(sys.path[0]).rglob("*.pyc"):
        cached.unlink()
    assert registry.names() == ("loud",)


def test_a_module_may_read_the_registry_while_it_is_imported(
    install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry = shouts(monkeypatch)
    install_extension("loud_shouts", LOUD + "assert 'loud' in sys.shouts and 'quiet' not in sys.shouts\n", registry)
    assert registry.names() == ("loud",)


def test_another_thread_waits_for_what_is_being_imported(
    install_extension: InstallExtension, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, reached = threading.Event(), threading.Event()
    monkeypatch.setattr(sys, "gate", gate, raising=False)
    monkeypatch.setattr(sys, "reached", reached, raising=False)
    registry = shouts(monkeypatch)
    install_extension("loud_shouts", "import sys\nsys.reached.set()\nsys.gate.wait()\n" + LOUD, registry)
    read: list[tuple[str, ...]] = []
    threads = [threading.Thread(target=lambda: read.append(registry.names())) for _ in range(2)]
    threads[0].start()
    reached.wait()
    threads[1].start()
    gate.set()
    for thread in threads:
        thread.join()
    assert read == [("loud",), ("loud",)]
