"""Detects the format of a file from its first records."""

import io
import re
from typing import Any, BinaryIO

import msgspec

from prm.errors import FormatError
from prm.formats import label_lines, table, text_rows
from prm.formats.parquet_rows import MAGIC
from prm.formats.raw import BOM, MAX_RECORD_BYTES
from prm.formats.record import Record, Rejection
from prm.formats.registry import FORMATS, LABELS, RECORDS, TABLE, Format
from prm.messages import Message

HEAD_BYTES = 256 * 1024
MOST_BYTES = MAX_RECORD_BYTES

TEXT_SUFFIXES = (".txt", ".text")
_UTF16 = (b"\xff\xfe", b"\xfe\xff")


def detect(stream: BinaryIO, filename: str) -> str:
    """The name of a file's format, by the JSON keys or the columns in its first HEAD_BYTES and its whole first record.

    If the keys of several formats are present, the format with the most keys wins. Another file of named columns is a
    table, and another text file is `plain`. Raises FormatError("unknown_format") with the reason, and OSError if the
    file cannot be read.
    """
    head = stream.read(HEAD_BYTES)
    if head.startswith(b"PK\x03\x04") and filename.lower().endswith(".zip"):
        raise FormatError("unknown_format", Message("packed_as_zip", filename=filename))
    if head.startswith(_UTF16):
        raise FormatError("unknown_format", Message("encoded_as_utf16", filename=filename))
    if b"".join(head.removeprefix(BOM).split()) in (b"", b"[]"):
        raise FormatError("unknown_format", Message("file_has_no_content", filename=filename))
    if not head.startswith(MAGIC) and b"\0" in head:
        raise FormatError("unknown_format", Message("file_type_unknown", filename=filename))
    head = _with_first_record(head, stream)
    begun = table.sample(stream if head.startswith(MAGIC) else io.BytesIO(), head)
    if label_lines.are_labels(begun.columns):
        return LABELS
    if begun.rows and begun.rows[0].keys() >= set(FORMATS.get(RECORDS).keys):
        return RECORDS  # whose `extra` and `native` have the keys of the file that a solution came from
    if not table.is_csv(head):
        content = msgspec.json.encode(begun.rows) if head.startswith(MAGIC) else head
        keys = {key.decode() for key in re.findall(rb'"(\w+)"\s*:', content)}
        names = formats_with(keys)
        name = _format_of(names, begun.rows) if names else ""
        if re.match(rb"\s*\{\s*\n", head.removeprefix(BOM)) and not (name and FORMATS.get(name).members):
            raise FormatError("unknown_format", Message("objects_on_several_lines", filename=filename))
        if name:
            return name
    else:
        keys = set()
    mapping = table.proposed(begun)
    if "problem" in keys and {"steps", "solution"} & keys and not mapping.labels:
        return "plain"
    if not table.fault_of(mapping, begun):
        return TABLE
    if filename.lower().endswith(TEXT_SUFFIXES) and text_rows.is_text(head):
        return "plain"
    if begun.rows and (keys or len(begun.columns) > 1):
        return TABLE
    if not begun.rows and len(head) >= MOST_BYTES:
        raise FormatError(
            "unknown_format", Message("first_row_too_long", filename=filename, n=MOST_BYTES // 1024 // 1024)
        )
    if text_rows.text_in(head) is None:
        raise FormatError("unknown_format", Message("encoded_as_another", filename=filename))
    line = head.strip()
    if filename.lower().endswith(TEXT_SUFFIXES) and b"\n" not in line and not line.startswith((b"{", b"[")):
        raise FormatError("unknown_format", Message("text_without_solution"))
    raise FormatError("unknown_format", Message("file_type_unknown", filename=filename))


def _with_first_record(head: bytes, stream: BinaryIO) -> bytes:
    """The first bytes, with as much of the stream as the first record needs, up to about MOST_BYTES."""
    while len(head) < MOST_BYTES and not holds_record(head) and (more := stream.read(len(head))):
        head += more
    return head


def holds_record(head: bytes) -> bool:
    """Whether a file that begins so continues after its first record."""
    if head.startswith(MAGIC):
        return True
    try:
        begun = table.first_rows(head, 2)
    except OSError:  # the header of a CSV file continues
        return False
    if len(begun) < 2:
        return False
    # The first line of an object on several lines is not a record.
    return not head.removeprefix(BOM).lstrip().startswith(b"{") or _is_json(begun[0])


def _is_json(raw: bytes | Rejection) -> bool:
    try:
        msgspec.json.decode(raw if isinstance(raw, bytes) else b"")
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def formats_with(keys: set[str]) -> list[str]:
    """The names of the formats whose keys are all present, that with the most keys first."""
    known = {name: FORMATS.get(name).keys for name in FORMATS}
    complete = [name for name, wanted in known.items() if wanted and keys.issuperset(wanted)]
    return sorted(complete, key=lambda name: -len(known[name]))


def _format_of(names: list[str], rows: list[dict[str, Any]]) -> str:
    """The first of the formats, unless its keys are those of the agent's run that a solution was imported from.

    A line of another format has that run in its other fields.
    """
    first = FORMATS.get(names[0])
    if not rows or "problem" in first.keys:
        return first.name
    if first.exporter and not first.exporter.has_labels:
        labelled = [name for name in names[1:] if _has_label(FORMATS.get(name), rows[0])]
        if labelled:
            return labelled[0]
    return "plain" if rows[0].keys() >= {"problem", "steps"} else first.name


def _has_label(format: Format, row: dict[str, Any]) -> bool:
    read = format.read(io.BytesIO(msgspec.json.encode(row)))
    return any(isinstance(record, Record) and record.annotations for _, record in read)
