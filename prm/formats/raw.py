"""Splits a stream of any size into the JSON of its records: lines, elements of one array, or rows of a Parquet file.

Memory is bounded by one record and one chunk. A record that is too long becomes a Rejection with its line (its number
in an array or a Parquet file), and splitting continues after it.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Any, BinaryIO

import msgspec

from prm.formats import parquet_rows
from prm.formats.record import Rejection
from prm.messages import Message

Raw = tuple[int, bytes | Rejection]

CHUNK = 256 * 1024
LEAST_PIECE = 64 * 1024
MAX_RECORD_BYTES = 32 * 1024 * 1024
TOO_LONG = Message("row_too_long", n=MAX_RECORD_BYTES // 1024 // 1024)
BOM = b"\xef\xbb\xbf"
EXCERPT = 200
_STRUCTURE = re.compile(rb'["\[\]{},]')
_STRING_END = re.compile(rb'["\\]')


def raw_records(stream: BinaryIO, head: bytes, skip: int = 0) -> Iterator[Raw]:
    """The JSON of each record of a stream, whose beginning `head` was already read."""
    if head.startswith(parquet_rows.MAGIC):
        return parquet_rows.raw_rows(stream, head=head, longest=MAX_RECORD_BYTES, skip=skip)
    return islice(_raw_records(pieces_of(stream, head)), skip, None)


def json_lines(rows: Iterable[Any]) -> Iterator[bytes]:
    """The bytes of the rows as JSON Lines."""
    return (msgspec.json.encode(row) + b"\n" for row in rows)


def json_array(rows: Iterable[Any]) -> Iterator[bytes]:
    """The bytes of the rows as one JSON array, with one row per line."""
    opening = b"[\n"
    for row in rows:
        yield opening + msgspec.json.encode(row)
        opening = b",\n"
    yield b"[]\n" if opening == b"[\n" else b"\n]\n"


def join_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces joined to LEAST_PIECE bytes or more, because a web server sends each piece by itself."""
    waiting, size = list[bytes](), 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= LEAST_PIECE:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def pieces_of(stream: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The content of a stream in chunks, from its beginning `head`, which was already read."""
    return chain([head], iter(lambda: stream.read(CHUNK), b""))


def excerpt_of(raw: bytes) -> str:
    return raw[:EXCERPT].decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


def _raw_records(chunks: Iterator[bytes]) -> Iterator[Raw]:
    head = next(chunks, b"").removeprefix(BOM).lstrip(b" \t\r")
    while head.isspace() and (chunk := next(chunks, b"")):
        head += chunk
    return _array(head, chunks) if head.lstrip()[:1] == b"[" else _lines(head, chunks)


def _lines(head: bytes, chunks: Iterator[bytes]) -> Iterator[Raw]:
    line = 1
    begun, size = list[bytes](), 0  # of a line that continues in the next chunk; dropped if it is too long
    for chunk in chain([head], chunks):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            if raw := _line(line, [*begun, end], size + len(end)):
                yield line, raw
            line, begun, size = line + 1, [], 0
        size += len(rest)
        begun = [*begun, rest] if size <= MAX_RECORD_BYTES else []
    if raw := _line(line, begun, size):
        yield line, raw


def _line(line: int, pieces: list[bytes], size: int) -> bytes | Rejection | None:
    """None for a blank line."""
    if size > MAX_RECORD_BYTES:
        return Rejection(line=line, reason=TOO_LONG)
    raw = b"".join(pieces)
    return None if raw.isspace() else raw


def _array(head: bytes, chunks: Iterator[bytes]) -> Iterator[Raw]:
    """Split an array into elements by brackets, commas and strings alone; elements may be malformed."""
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
                rest = bytes(buffer)
                reason = Message("record_incomplete" if dropping or rest.strip() else "array_not_closed")
                yield number, Rejection(line=number, reason=reason, excerpt=excerpt_of(rest))
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
        yield number, Rejection(line=number, reason=Message("text_after_array"), excerpt=excerpt_of(rest))
