"""Prepares structs before threads use them."""

from collections.abc import Iterator

import msgspec


def prepare_structs() -> None:
    """Prepare every struct that is loaded for decoding. Call it before threads start.

    msgspec 0.22 prepares a struct when it is first decoded. The process crashes if two threads do so at once.
    """
    for kind in _subclasses(msgspec.Struct):
        msgspec.json.Decoder(kind)


def _subclasses(kind: type) -> Iterator[type]:
    subclasses: list[type] = kind.__subclasses__()
    for subclass in subclasses:
        yield subclass
        yield from _subclasses(subclass)
