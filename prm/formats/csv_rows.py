"""Reads the rows of a CSV file as JSON objects of texts, with the names in the header.

The delimiter and a byte order mark are detected. A quoted cell may contain line breaks and delimiters. A row that
cannot be read becomes a Rejection with its first line, and reading continues after it.
"""

import codecs
import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import msgspec

from prm.formats.record import Rejection
from prm.messages import Message

DELIMITERS = (",", ";", "\t", "|")
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
_SNIFFED = 50
_EXCERPT = 200


def guard(cell: object) -> object:
    """The cell, with an apostrophe in front of a text that a spreadsheet could run as a formula."""
    if isinstance(cell, str) and cell.lstrip("'").startswith(FORMULA_STARTS):
        return f"'{cell}"
    return cell


def unguarded(cell: str) -> str:
    """The text without the apostrophe that `guard` added."""
    return cell[1:] if cell.startswith("'") and cell.lstrip("'").startswith(FORMULA_STARTS) else cell


def raw_rows(
    pieces: Iterable[bytes], *, longest: int, delimiter: str = "", guarded: bool = False, skip: int = 0
) -> Iterator[tuple[int, bytes | Rejection]]:
    """Yield (first line of the row, its JSON) after skipping `skip` rows below the header.

    In a `guarded` file the apostrophes of `guard` are removed. Raises OSError if the header is not a CSV row of UTF-8
    text, as in a binary file.
    """
    csv.field_size_limit(longest)
    lines = _Lines(pieces, longest)
    rows = csv.reader(lines, delimiter=delimiter or lines.delimiter(), strict=True)
    names: list[str] = []
    number = -1
    for line, row in _numbered(rows):
        if row == []:
            continue
        if not names:
            if isinstance(row, Rejection):
                raise OSError(row.reason)
            if any("\0" in name or not _is_utf8(name) for name in row):
                raise OSError(Message("header_not_utf8"))
            names = column_names(row)
            continue
        number += 1
        if number >= skip:
            if guarded and isinstance(row, list):
                row = [unguarded(cell) for cell in row]
            yield line, _encoded(line, row, names, longest)


def delimiter_of(pieces: Iterable[bytes]) -> str:
    """The delimiter of CSV that is detected in its first rows."""
    return _Lines(pieces, csv.field_size_limit()).delimiter()


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def column_names(header: Sequence[str]) -> list[str]:
    """The unique names of a header's columns: a blank one is named by its position, a repeated one is numbered."""
    names: list[str] = []
    for place, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {place}"
        repetition = 2
        while name in names:
            name = f"{cell.strip()} ({repetition})"
            repetition += 1
        names.append(name)
    return names


def write_rows(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> Iterator[bytes]:
    """The bytes of a CSV file of the rows, with formulas guarded and lists as JSON."""
    writer = csv.writer(_Echo(), lineterminator="\r\n")
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow([guard(_cell(row.get(name))) for name in columns])


def _cell(value: Any) -> object:
    if isinstance(value, list | dict):
        return msgspec.json.encode(value).decode()
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value


class _Echo:
    """A file for csv.writer whose `write` returns the line."""

    def write(self, line: str) -> bytes:
        return line.encode()


class _Lines:
    """The lines of a file with their line breaks, truncated to `longest` characters.

    Bytes that are not UTF-8 become surrogates.
    """

    def __init__(self, pieces: Iterable[bytes], longest: int) -> None:
        self._source = self._cut(iter(pieces))
        self._longest = longest
        self._ahead: list[str] = []

    def __iter__(self) -> Iterator[str]:
        while True:
            if self._ahead:
                yield self._ahead.pop(0)
            elif (line := next(self._source, None)) is None:
                return
            else:
                yield line

    def delimiter(self) -> str:
        """The delimiter that splits the first rows most evenly and, among equals, into most columns."""
        self._ahead = list(islice(self._source, _SNIFFED))
        return max(DELIMITERS, key=self._evenness)

    def _evenness(self, delimiter: str) -> tuple[float, int]:
        try:
            rows = [row for row in csv.reader(self._ahead, delimiter=delimiter) if row]
        except csv.Error:
            return 0.0, 0
        rows = rows[:-1] or rows  # the last row may continue after the sampled lines
        columns = len(rows[0]) if rows else 0
        if columns < 2:
            return 0.0, columns
        return sum(len(row) == columns for row in rows) / len(rows), columns

    def _cut(self, pieces: Iterator[bytes]) -> Iterator[str]:
        decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
        begun, size, first = list[str](), 0, True
        for piece in pieces:
            text = decoder.decode(piece)
            if first and text:
                text, first = text.removeprefix("\ufeff"), False
            *ends, rest = text.split("\n")
            for end in ends:
                yield "".join([*begun, end])[: self._longest + 1] + "\n"
                begun, size = [], 0
            if size <= self._longest:
                begun.append(rest)
                size += len(rest)
        if last := "".join([*begun, decoder.decode(b"", final=True)])[: self._longest + 1]:
            yield last


def _numbered(rows: Any) -> Iterator[tuple[int, list[str] | Rejection]]:
    """Each row or its Rejection, with its first line."""
    while True:
        line = rows.line_num + 1
        try:
            row = next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, Rejection(line=line, reason=Message("not_a_csv_row", error=error))
        else:
            yield line, row


def _encoded(line: int, row: list[str] | Rejection, names: Sequence[str], longest: int) -> bytes | Rejection:
    if isinstance(row, Rejection):
        return row
    excerpt = "".join(row)[:_EXCERPT].encode("utf-8", "replace").decode()
    if len(row) != len(names):
        return Rejection(
            line,
            Message(
                "cell_count_differs", cells=Message("n_cells", n=len(row)), columns=Message("n_columns", n=len(names))
            ),
            excerpt=excerpt,
        )
    for name, cell in zip(names, row, strict=True):
        if not _is_utf8(cell):
            return Rejection(line, Message("row_not_utf8"), field=name, excerpt=excerpt)
    raw = msgspec.json.encode(dict(zip(names, row, strict=True)))
    return raw if len(raw) <= longest else Rejection(line, Message("row_too_long", n=longest // 1024 // 1024))
