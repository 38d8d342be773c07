"""Reading JSON records from a stream of any size: JSON Lines, one JSON array, or the rows of a Parquet file.

Memory stays at one record and one chunk. What cannot be read becomes a Rejection with its line (its
number in an array or a Parquet file), and reading goes on behind it.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

import msgspec

from annotation.formats import parquet_rows
from annotation.formats.record import Record, Rejection

Numbered = tuple[int, Record | Rejection]
Raw = tuple[int, bytes | Rejection]

CHUNK = 256 * 1024
MAX_RECORD_BYTES = 32 * 1024 * 1024
TOO_LONG = f"longer than {MAX_RECORD_BYTES // 1024 // 1024} MB"
BOM = b"\xef\xbb\xbf"
EXCERPT = 200


class Unreadable(Exception):
    """A record that does not say what its format asks for: the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


def read_records(stream: BinaryIO, parse: Callable[[Any], Record], *, skip: int = 0) -> Iterator[Numbered]:
    """Yield (line, record or rejection), leaving out the first `skip` of them without parsing.

    `parse` turns the decoded JSON of one record into a Record; it raises Unreadable or
    msgspec.ValidationError where it cannot.
    """
    yield from parsed_records(raw_records(stream, stream.read(CHUNK), skip), parse)


def read_documents(
    stream: BinaryIO, members: Callable[[Any], Iterable[Any]], parse: Callable[[Any], Record], *, skip: int = 0
) -> Iterator[Numbered]:
    """Like `read_records`, for files that may also be one JSON object, over many lines, that holds the records.

    `members` gives the records of a decoded object (the object itself where it is one). Such a file is read
    whole, up to MAX_RECORD_BYTES.
    """
    head = stream.read(MAX_RECORD_BYTES + 1)
    whole = _document(head)
    if whole is None:
        yield from parsed_records(raw_records(stream, head, skip), parse)
        return
    for number, member in enumerate(members(whole), start=1):
        if number > skip:
            yield number, _parsed(number, msgspec.json.encode(member), parse)


def raw_records(stream: BinaryIO, head: bytes, skip: int = 0) -> Iterator[Raw]:
    """The JSON of each record of a stream that begins with `head`, which is read already."""
    if head.startswith(parquet_rows.MAGIC):
        return parquet_rows.raw_rows(stream, head=head, longest=MAX_RECORD_BYTES, skip=skip)
    return islice(_raw_records(pieces_of(stream, head)), skip, None)


def pieces_of(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The content of a stream that begins with `head`, which is read already."""
    return chain([head], iter(lambda: stream.read(CHUNK), b""))


def parsed_records(raws: Iterable[Raw], parse: Callable[[Any], Record]) -> Iterator[Numbered]:
    """Raw records parsed, those that cannot be into Rejections."""
    for line, raw in raws:
        yield line, raw if isinstance(raw, Rejection) else _parsed(line, raw, parse)


def original_records(stream: BinaryIO) -> Iterator[bytes | None]:
    """What `read_records` and `read_documents` read, record by record as the file has it, each on one line.

    None stands for what is longer than MAX_RECORD_BYTES.
    """
    head = stream.read(MAX_RECORD_BYTES + 1)
    if _document(head) is not None:
        yield on_one_line(head)
        return
    for _, raw in raw_records(stream, head):
        yield None if isinstance(raw, Rejection) else on_one_line(raw)


def on_one_line(raw: bytes) -> bytes:
    """Line ends stand between the parts of a JSON text, never inside of one."""
    return raw.removeprefix(BOM).strip().replace(b"\r", b" ").replace(b"\n", b" ")


def _document(content: bytes) -> Any:
    """The one JSON object that the content is; None for lines, an array, or what cannot be read."""
    text = content.removeprefix(BOM).strip()
    if len(content) > MAX_RECORD_BYTES or not text.startswith(b"{") or b"\n" not in text:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _parsed(line: int, raw: bytes, parse: Callable[[Any], Record]) -> Record | Rejection:
    try:
        value = msgspec.json.decode(raw)
        if b"\\u0000" in raw and _holds_nul(value):
            raise Unreadable("", "holds a NUL character, which a database cannot keep")
        return parse(value)
    except Unreadable as error:
        field, reason = error.field, error.reason
    except msgspec.ValidationError as error:
        field, reason = validation_fault(error)
    except UnicodeDecodeError as error:
        field, reason = "", f"not UTF-8 text: {error.reason} at byte {error.start} of the record"
    except msgspec.DecodeError as error:
        field, reason = "", f"not valid JSON: {error}"
    except RecursionError:
        field, reason = "", "nested too deeply"
    return Rejection(line=line, field=field, reason=reason, excerpt=excerpt_of(raw))


def validation_fault(error: msgspec.ValidationError) -> tuple[str, str]:
    """Field and reason of "Expected `str`, got `int` - at `$.label.steps[0]`"."""
    reason, _, place = str(error).partition(" - at `$")
    return place.rstrip("`").lstrip("."), reason.replace("`", "")


def excerpt_of(raw: bytes) -> str:
    return raw[:EXCERPT].decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any(_holds_nul(part) for item in value.items() for part in item)
    return isinstance(value, list) and any(map(_holds_nul, value))


def _raw_records(chunks: Iterator[bytes]) -> Iterator[Raw]:
    head = next(chunks, b"").removeprefix(BOM).lstrip(b" \t\r")
    while head.isspace():
        head += next(chunks, b"x")
    return _array(head, chunks) if head.lstrip()[:1] == b"[" else _lines(head, chunks)


def _lines(head: bytes, chunks: Iterator[bytes]) -> Iterator[Raw]:
    line = 1
    pending, dropping = head, False
    while True:
        *whole, pending = pending.split(b"\n")
        for raw in whole:
            if dropping or len(raw) > MAX_RECORD_BYTES:
                yield line, Rejection(line=line, reason=TOO_LONG)
            elif raw and not raw.isspace():
                yield line, raw
            line, dropping = line + 1, False
        if len(pending) > MAX_RECORD_BYTES:
            pending, dropping = b"", True
        chunk = next(chunks, b"")
        if not chunk:
            break
        pending += chunk
    if dropping:
        yield line, Rejection(line=line, reason=TOO_LONG)
    elif pending and not pending.isspace():
        yield line, pending


_STRUCTURE = re.compile(rb'["\[\]{},]')
_STRING_END = re.compile(rb'["\\]')


def _array(head: bytes, chunks: Iterator[bytes]) -> Iterator[Raw]:
    """Cut an array into its elements by brackets, commas and strings alone; elements may be malformed."""
    buffer = bytearray(head.lstrip()[1:])
    number, depth, at = 1, 0, 0
    in_string = dropping = closed = False
    while not closed:
        match = (_STRING_END if in_string else _STRUCTURE).search(buffer, at)
        if match is None or (match[0] == b"\\" and match.end() == len(buffer)):
            at = len(buffer) if match is None else match.start()
            if len(buffer) > MAX_RECORD_BYTES:
                del buffer[:at]
                at, dropping = 0, True
            chunk = next(chunks, b"")
            if not chunk:
                yield number, _cut_off(number, bytes(buffer), dropping)
                return
            buffer += chunk
            continue
        mark, at = match[0], match.end()
        if in_string:
            in_string = mark == b"\\"
            at += in_string
        elif mark == b'"':
            in_string = True
        elif mark in b"[{":
            depth += 1
        elif depth:
            depth -= mark in b"]}"
        elif mark in b",]":
            closed = mark == b"]"
            element = bytes(buffer[: at - 1])
            del buffer[:at]
            at = 0
            if dropping or len(element) > MAX_RECORD_BYTES:
                yield number, Rejection(line=number, reason=TOO_LONG)
            elif not closed or element.strip():
                yield number, element
            number, dropping = number + 1, False
    rest = bytes(buffer).strip() or next(chunks, b"").strip()
    if rest:
        yield number, Rejection(line=number, reason="text after the end of the array", excerpt=excerpt_of(rest))


def _cut_off(number: int, rest: bytes, dropping: bool) -> Rejection:
    reason = "the file ends inside this record" if dropping or rest.strip() else "the array is not closed"
    return Rejection(line=number, reason=reason, excerpt=excerpt_of(rest))
