"""Registries that other packages can extend: acquisition functions, formats, audits, exporters, trackers and more.

An entry registers itself in its own module with a decorator. Another package names its module as an entry point of the
registry's group, and the registry imports it on first use.
"""

from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Generic, TypeVar

from prm.errors import ExtensionError, UnknownNameError
from prm.messages import Message

Entry = TypeVar("Entry")


class Registry(Generic[Entry]):
    """Entries by name: the product's own in the order of `built_in`, then those of other packages.

    `group` is the group of entry points. `what` is the singular of an entry, for messages. `built_in` names the
    product's own modules that register entries.
    """

    def __init__(self, group: str, what: str, *, built_in: Sequence[str]) -> None:
        self.group = group
        self._what = what
        self._built_in = tuple(built_in)
        self._entries: dict[str, tuple[int, Entry]] = {}  # with the place of its module in `built_in`
        self._loaded = self._loading = False
        self._lock = RLock()  # a module that is being imported may read the registry

    def register(self, name: str) -> Callable[[Entry], Entry]:
        """A decorator that registers an object under the name and returns it unchanged."""

        def decorate(entry: Entry) -> Entry:
            self.add(name, entry, module=entry.__module__)
            return entry

        return decorate

    def add(self, name: str, entry: Entry, *, module: str) -> None:
        """Add an entry that `module` defines. Raises ExtensionError if the name is taken."""
        if name in self._entries:
            raise ExtensionError(Message("extension_name_taken", module=module, name=name, group=self.group))
        place = self._built_in.index(module) if module in self._built_in else len(self._built_in)
        self._entries[name] = place, entry

    def names(self) -> tuple[str, ...]:
        self._load()
        return tuple(sorted(self._entries, key=lambda name: self._entries[name][0]))

    def get(self, name: str) -> Entry:
        """The entry of a name. Raises UnknownNameError, which lists the registered names."""
        self.check(name)
        return self._entries[name][1]

    def check(self, name: str) -> None:
        """Raises UnknownNameError if nothing is registered under the name."""
        if name not in self:
            raise UnknownNameError(
                Message("unregistered_name", what=self._what, name=name, known=", ".join(self.names()))
            )

    def __contains__(self, name: object) -> bool:
        self._load()
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def _load(self) -> None:
        """Import the modules that register entries, once. Raises ExtensionError if one of another package fails."""
        if self._loaded:
            return
        with self._lock:
            if self._loaded or self._loading:
                return
            self._loading = True
            try:
                for module in self._built_in:
                    import_module(module)
                for extension in sorted(entry_points(group=self.group), key=lambda point: (point.name, point.value)):
                    self._load_extension(extension)
                self._loaded = True
            finally:
                self._loading = False

    def _load_extension(self, extension: EntryPoint) -> None:
        before = dict(self._entries)
        try:
            extension.load()
        except Exception as error:
            self._entries = before  # the next attempt registers this module's entries again
            raise ExtensionError(
                Message(
                    "extension_not_loadable",
                    value=extension.value,
                    group=self.group,
                    reason=f"{type(error).__name__}: {error}",
                )
            ) from error
