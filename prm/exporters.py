"""The registry of formats in which a snapshot can be written: every format with a writer, and others without a reader.

`@exporter("name", ...)` decorates the function that yields the rows of a record in a format without a reader.
"""

from collections.abc import Callable
from typing import Any

from prm.formats.registry import FORMATS
from prm.formats.writing import Exporter, Lines
from prm.messages import Message
from prm.registry import Registry


class _Exporters(Registry[Exporter]):
    """The exporters of the formats, then the registered ones."""

    def names(self) -> tuple[str, ...]:
        return (*_of_formats(), *super().names())

    def get(self, name: str) -> Exporter:
        return _of_formats().get(name) or super().get(name)

    def __contains__(self, name: object) -> bool:
        return name in _of_formats() or super().__contains__(name)


def _of_formats() -> dict[str, Exporter]:
    return {one.name: one for name in FORMATS if (one := FORMATS.get(name).exporter)}


EXPORTERS = _Exporters(
    "stepmark.exporters",
    Message("kind_export_format"),
    built_in=[f"prm.formats.{module}" for module in ("trl", "openrlhf", "corrections", "table", "huggingface")],
)


def exporter(name: str, *, title: str = "", **facts: Any) -> Callable[[Lines], Lines]:
    """Register the decorated function, which yields the rows of a record; `facts` are fields of `Exporter`."""

    def decorate(lines: Lines) -> Lines:
        EXPORTERS.add(name, Exporter(name, title or name, lines, **facts), module=lines.__module__)
        return lines

    return decorate
