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
MAX_DEPTH = 100  # of lists and objects in each other
TOO_LONG = f"longer than {MAX_RECORD_BYTES // 1024 // 1024} MB"
BOM = b"\xef\xbb\xbf"
EXCERPT = 200
_MISSING = "Object missing required field "


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
        value = decoded(raw)
        if b"\\u0000" in raw and (place := _place_of_nul(value)) is not None:
            raise Unreadable(place, "holds a NUL character, which a database cannot keep")
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


def decoded(text: bytes) -> Any:
    """The value of a JSON text. Raises msgspec.DecodeError, UnicodeDecodeError, RecursionError behind MAX_DEPTH.

    The bound is our own: how deep Python goes depends on who asks, and a value must be written again elsewhere.
    """
    value = msgspec.json.decode(text)
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and _is_deeper(value, MAX_DEPTH):
        raise RecursionError
    return value


def _is_deeper(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(_is_deeper(part, levels - 1) for part in inner)


def validation_fault(error: msgspec.ValidationError) -> tuple[str, str]:
    """Field and reason of "Expected `str`, got `int` - at `$.label.steps[0]`"; of a missing field, its own name."""
    reason, _, place = str(error).partition(" - at `$")
    place = place.rstrip("`")
    if reason.startswith(_MISSING):
        place += "." + reason.removeprefix(_MISSING).strip("`")
    return place.lstrip("."), reason.replace("`", "")


def excerpt_of(raw: bytes) -> str:
    return raw[:EXCERPT].decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _place_of_nul(value: Any, place: str = "") -> str | None:
    """Where a text or a key has a NUL character, as `steps[0].text`; None where none has."""
    if isinstance(value, str):
        return place if "\x00" in value else None
    if isinstance(value, dict):
        for key, part in value.items():
            at = f"{place}.{key}".lstrip(".")
            if "\x00" in key:
                return at.replace("\x00", "\N{REPLACEMENT CHARACTER}")
            if (found := _place_of_nul(part, at)) is not None:
                return found
        return None
    inner = enumerate(value) if isinstance(value, list) else ()
    return next((found for k, part in inner if (found := _place_of_nul(part, f"{place}[{k}]")) is not None), None)


def _raw_records(chunks: Iterator[bytes]) -> Iterator[Raw]:
    head = next(chunks, b"").removeprefix(BOM).lstrip(b" \t\r")
    while head.isspace():
        head += next(chunks, b"x")
    return _array(head, chunks) if head.lstrip()[:1] == b"[" else _lines(head, chunks)


def _lines(head: bytes, chunks: Iterator[bytes]) -> Iterator[Raw]:
    line = 1
    begun, size = list[bytes](), 0  # of a line that goes on in the next chunk; let go where it is too long
    for chunk in chain([head], chunks):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if found := _line(line, [*begun, end], size + len(end)):
                yield line, found
            line, begun, size = line + 1, [], 0
        size += len(rest)
        begun = [*begun, rest] if size <= MAX_RECORD_BYTES else []
    if found := _line(line, begun, size):
        yield line, found


def _line(line: int, pieces: list[bytes], size: int) -> bytes | Rejection | None:
    """None for a blank line."""
    if size > MAX_RECORD_BYTES:
        return Rejection(line=line, reason=TOO_LONG)
    raw = b"".join(pieces)
    return None if raw.isspace() else raw


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
