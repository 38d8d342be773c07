"""Detects the format of a file from its first records."""

import io
import re
from typing import BinaryIO

import msgspec

from prm.errors import FormatError
from prm.formats import table
from prm.formats.parquet_rows import MAGIC
from prm.formats.registry import FORMATS, TABLE
from prm.messages import Message

HEAD_BYTES = 256 * 1024

_UNREADABLE = {
    b"PK\x03\x04": Message("packed_as_zip"),
    b"\xff\xfe": Message("packed_as_utf16"),
    b"\xfe\xff": Message("packed_as_utf16"),
}


def detect(stream: BinaryIO, filename: str) -> str:
    """The name of a file's format, by the JSON keys or the columns in its head.

    If the keys of several formats are present, the format with the most keys wins. Raises FormatError
    ("unknown_format") with the reason, and OSError if the file cannot be read.
    """
    head = stream.read(HEAD_BYTES)
    for magic, reason in _UNREADABLE.items():
        if head.startswith(magic):
            raise FormatError("unknown_format", Message("file_packed", filename=filename, reason=reason))
    if not head.strip():
        raise FormatError("unknown_format", Message("file_has_no_content", filename=filename))
    begun = table.sample(stream if head.startswith(MAGIC) else io.BytesIO(), head)
    if not table.is_csv(head):
        content = msgspec.json.encode(begun.rows) if head.startswith(MAGIC) else head
        keys = {key.decode() for key in re.findall(rb'"(\w+)"\s*:', content)}
        if name := format_with(keys):
            return name
    else:
        keys = set()
    mapping = table.proposed(begun)
    if "problem" in keys and {"steps", "solution"} & keys and not mapping.labels:
        return "plain"
    if not table.fault_of(mapping, begun):
        return TABLE
    raise FormatError("unknown_format", Message("format_not_recognised", filename=filename, known=", ".join(FORMATS)))


def format_with(keys: set[str]) -> str:
    """The name of the format with the most keys, all of which are present; empty if there is none."""
    known = {name: FORMATS.get(name).keys for name in FORMATS}
    complete = [name for name, wanted in known.items() if wanted and keys.issuperset(wanted)]
    return max(complete, key=lambda name: len(known[name]), default="")
