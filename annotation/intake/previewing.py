"""How the beginning of a file would come in, before anything of it is taken."""

import io
from dataclasses import dataclass
from itertools import islice

from annotation.errors import DomainError
from annotation.formats.record import Record, Rejection
from annotation.formats.registry import HEAD_BYTES, READERS, detect
from annotation.intake.decomposition import RULES
from annotation.intake.opening import unpacked_head
from annotation.intake.preparing import prepared

PREVIEW_BYTES = 2 * 1024 * 1024
LOOKED_AT = 100
SHOWN = 3


@dataclass(frozen=True)
class Preview:
    """The format, the first records with their lines, and the first lines that would be rejected."""

    format: str
    records: list[tuple[int, Record]]
    rejections: list[Rejection]


def preview_import(*, head: bytes, whole: bool, filename: str, format: str, decomposition: str) -> Preview:
    """Read the first records of a file from its first bytes; `whole` tells that there are no others.

    Raises DomainError (`unknown_format`, `unknown_decomposition`, `unreadable_file`) where the import would not start.
    """
    if decomposition not in RULES:
        raise DomainError("unknown_decomposition", f"There is no rule '{decomposition}' to split a text by.")
    content = unpacked_head(head, PREVIEW_BYTES)
    if head and not content:
        raise DomainError("unreadable_file", f"{filename} cannot be read: its packing is broken.")
    whole = whole and len(content) < PREVIEW_BYTES
    found = detect(content[:HEAD_BYTES], filename) if format == "auto" else format
    if found not in READERS:
        raise DomainError("unknown_format", f"There is no format '{format}'.")
    items = list(islice(READERS[found](io.BytesIO(content)), LOOKED_AT))
    if not whole and len(items) < LOOKED_AT and items and isinstance(items[-1][1], Rejection):
        items.pop()  # cut off by us
    read = [(line, prepared(line, item, decomposition)) for line, item in items]
    records = [(line, item) for line, item in read if isinstance(item, Record)]
    return Preview(found, records[:SHOWN], [item for _, item in read if isinstance(item, Rejection)][:SHOWN])
