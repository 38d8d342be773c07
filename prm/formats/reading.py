"""Reads the records of a stream; an unreadable one becomes a Rejection with its line, field and reason."""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO, TypeVar

import msgspec

from prm.faults import fault_of
from prm.formats.raw import BOM, CHUNK, MAX_RECORD_BYTES, Raw, excerpt_of, raw_records
from prm.formats.record import Record, Rejection
from prm.messages import Message

Numbered = tuple[int, Record | Rejection]
T = TypeVar("T")

MAX_DEPTH = 100  # of nested lists and objects
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_MISSING = re.compile(r"Object missing required field `(?P<name>.+)`")


class Unreadable(Exception):
    """A record that does not match its format: the field and the reason."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(reason)
        self.field = field
        self.reason = reason


def read_records(stream: BinaryIO, parse: Callable[[Any], Record], *, skip: int = 0) -> Iterator[Numbered]:
    """Yield (line, record or rejection) after skipping `skip` records without parsing them.

    `parse` converts the decoded JSON of a record; it raises Unreadable or msgspec.ValidationError.
    """
    yield from parsed_records(raw_records(stream, stream.read(CHUNK), skip), parse)


def read_documents(
    stream: BinaryIO, members: Callable[[Any], Iterable[Any]], parse: Callable[[Any], Record], *, skip: int = 0
) -> Iterator[Numbered]:
    """Like `read_records`, for files that may also be one JSON object with the records.

    `members` yields the records in a decoded object, or the object itself. Such a file is read whole, up to
    MAX_RECORD_BYTES.
    """
    head = stream.read(MAX_RECORD_BYTES + 1)
    whole = _document(head)
    if whole is None:
        yield from parsed_records(raw_records(stream, head, skip), parse)
        return
    for number, member in enumerate(members(whole), start=1):
        if number > skip:
            yield number, _parsed(number, msgspec.json.encode(member), parse)


def parsed_records(raws: Iterable[Raw], parse: Callable[[Any], Record]) -> Iterator[Numbered]:
    """Yield each raw record parsed, or its Rejection."""
    for line, raw in raws:
        yield line, raw if isinstance(raw, Rejection) else _parsed(line, raw, parse)


def original_records(
    stream: BinaryIO, members: Callable[[Any], Iterable[Any]] | None = None, *, head: bytes = b""
) -> Iterator[bytes | None]:
    """Stream the records as the file has them, each on one line, in the order of `read_records`.

    With `members`, in the order of `read_documents`. None stands for a record longer than MAX_RECORD_BYTES. `head` has
    been read from the stream already.
    """
    head += stream.read(CHUNK if members is None else MAX_RECORD_BYTES + 1)
    document = None if members is None else _document(head)
    if members is None or document is None:
        for _, raw in raw_records(stream, head):
            yield None if isinstance(raw, Rejection) else on_one_line(raw)
        return
    for member in members(document):
        yield on_one_line(head) if member is document else msgspec.json.encode(member)


def on_one_line(raw: bytes) -> bytes:
    """The JSON text on one line; line ends occur only between its tokens."""
    return raw.removeprefix(BOM).strip().replace(b"\r", b" ").replace(b"\n", b" ")


def _document(content: bytes) -> Any:
    """The content as one JSON object; None for several lines of JSON, an array, or unreadable content."""
    text = content.removeprefix(BOM).strip()
    if len(content) > MAX_RECORD_BYTES or not text.startswith(b"{"):
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _parsed(line: int, raw: bytes, parse: Callable[[Any], Record]) -> Record | Rejection:
    try:
        value = decoded(raw)
        if b"\\u0000" in raw and (place := place_of_unstorable(value)) is not None:
            raise Unreadable(place, Message("record_with_nul"))
        return parse(value)
    except Unreadable as error:
        field, reason = error.field, error.reason
    except msgspec.ValidationError as error:
        field, reason = validation_fault(error)
    except UnicodeDecodeError as error:
        field, reason = "", _utf8_fault(raw, error)
    except msgspec.DecodeError as error:
        field, reason = "", Message("record_not_json", error=error)
    except RecursionError:
        field, reason = "", Message("record_nested_too_deep")
    return Rejection(line=line, field=field, reason=reason, excerpt=excerpt_of(raw))


def _utf8_fault(raw: bytes, error: UnicodeDecodeError) -> Message:
    """The reason, with the byte of the record: msgspec counts from the start of a string in it."""
    try:
        raw.decode()
    except UnicodeDecodeError as of_the_record:
        error = of_the_record
    return Message("record_not_utf8", error=error.reason, n=error.start)


def decoded(text: bytes) -> Any:
    """The value of a JSON text. Raises msgspec.DecodeError, UnicodeDecodeError, and RecursionError beyond MAX_DEPTH.

    Python's own limit depends on the depth of the call, and the value must be encoded again elsewhere.
    """
    value = msgspec.json.decode(text)
    if text.count(b"[") + text.count(b"{") > MAX_DEPTH and is_deeper(value, MAX_DEPTH):
        raise RecursionError
    return value


def is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and objects are nested in more than `levels` levels."""
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return not levels or any(is_deeper(part, levels - 1) for part in inner)


def whole(document: Any) -> list[Any]:
    """The one record of a file that is a single JSON object."""
    return [document]


def other_fields(value: dict[str, Any], known: type[msgspec.Struct]) -> dict[str, Any]:
    """The items of an object that are not fields of a struct."""
    return {key: value[key] for key in value if key not in known.__struct_fields__}


def convert_record(value: Any, kind: type[T]) -> T:
    """The decoded value as a struct; raises Unreadable naming the field, and the names that it may have."""
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError as error:
        raise Unreadable(*validation_fault(error, kind)) from None


def fits(value: Any, kind: type[msgspec.Struct]) -> bool:
    """Whether a decoded value has the fields of a struct."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


def validation_fault(error: msgspec.ValidationError, kind: Any = None) -> tuple[str, str]:
    """As `fault_of`; the place of a missing field is its own name."""
    place, reason = fault_of(error, kind)
    missing = _MISSING.fullmatch(reason)
    return (f"{place}.{missing['name']}".lstrip(".") if missing else place), reason


def place_of_unstorable(value: Any, place: str = "") -> str | None:
    """Where a text or key has a NUL or half a surrogate pair, such as `steps[0].text`; None if none has."""
    if isinstance(value, str):
        return place if _UNSTORABLE.search(value) else None
    if isinstance(value, dict):
        for key, part in value.items():
            at = f"{place}.{key}".lstrip(".")
            if _UNSTORABLE.search(key):
                return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", at)
            if (inner_place := place_of_unstorable(part, at)) is not None:
                return inner_place
        return None
    inner = enumerate(value) if isinstance(value, list) else ()
    places = (place_of_unstorable(part, f"{place}[{index}]") for index, part in inner)
    return next((one for one in places if one is not None), None)
