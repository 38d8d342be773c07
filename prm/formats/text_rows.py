"""Plain text as records of a problem and its solution.

The problem ends at the first blank line, or at a heading such as `Solution:`. A line of three or more dashes, equals
signs or asterisks ends a record; so does the next heading such as `Problem:`.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from prm.formats.raw import BOM, EXCERPT, TOO_LONG, Raw
from prm.formats.record import Rejection
from prm.messages import Message

_END = re.compile(r"(-{3,}|={3,}|\*{3,})\s*")
_MARKED = r"^[ \t]*(?:#+[ \t]*|\*\*)?(?:{words})(?:[ \t]*\d+)?[ \t]*:(?:\*\*)?[ \t]*"
_PROBLEM = re.compile(_MARKED.format(words="problem|question|task|q|aufgabe|frage"), re.IGNORECASE | re.MULTILINE)
_SOLUTION = re.compile(_MARKED.format(words="solution|response|lösung"), re.IGNORECASE | re.MULTILINE)
# "Answer: 14" may also be a solution's last line, so an answer only begins a solution if the problem is one paragraph.
_ANSWER = re.compile(_MARKED.format(words="solution|response|lösung|answer|a|antwort"), re.IGNORECASE | re.MULTILINE)
_JSON = re.compile(r"\A\s*[{\[]|^\s*\{\"", re.MULTILINE)
_BLANK = re.compile(r"\n[ \t]*\n")


def text_in(head: bytes) -> str | None:
    """The beginning of a file as text, None if it is not UTF-8."""
    head = head.removeprefix(BOM)
    try:
        return head.decode()
    except UnicodeDecodeError as error:  # a character that the end of the head cuts is no fault
        return head[: error.start].decode() if error.reason == "unexpected end of data" else None


def is_text(head: bytes) -> bool:
    """Whether a file that begins so is UTF-8 text of several lines, none of which is a JSON object."""
    text = text_in(head)
    return text is not None and "\0" not in text and "\n" in text.strip() and not _JSON.search(text)


def raw_row(line: int, raw: bytes | None) -> Raw:
    """A record's problem and solution as JSON, or why it has none."""
    return line, _row(line, raw)


def _row(line: int, raw: bytes | None) -> bytes | Rejection:
    if raw is None:
        return Rejection(line=line, reason=TOO_LONG)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        return Rejection(line=line, reason=Message("record_not_utf8", error=error.reason, n=error.start))
    problem, solution = _divided(text)
    if not solution:
        return Rejection(
            line=line, field="solution", reason=Message("text_without_solution"), excerpt=problem[:EXCERPT]
        )
    return msgspec.json.encode({"problem": problem, "solution": solution})


def _divided(text: str) -> tuple[str, str]:
    """The problem and its solution, "" if the text has none."""
    headed = _PROBLEM.match(text)
    text = text[headed.end() :] if headed else text
    solution = _SOLUTION.search(text) if headed else None
    if solution and solution.start():
        return text[: solution.start()].strip(), text[solution.end() :].strip()
    lines = list(re.finditer(r"^.*$", text, re.MULTILINE))
    blank = _BLANK.search(text, len(text) - len(text.lstrip()))
    places = [blank.start()] if blank else []
    places += [at.start() for at in lines[1:] if _ANSWER.match(text, at.start())][:1] if headed else []
    if not places:
        return text.strip(), ""
    rest = text[min(places) :].strip()
    marked = _ANSWER.match(rest)
    return text[: min(places)].strip(), rest[marked.end() :].strip() if marked else rest


def entries(pieces: Iterable[bytes], *, longest: int) -> Iterator[tuple[int, bytes | None]]:
    """The line on which each record begins and its text; None for more bytes than `longest`."""
    entry: list[bytes] = []
    first, size, headed = 1, 0, False
    for number, line in enumerate(_lines(pieces, longest), start=1):
        text = line[:200].decode(errors="replace")
        begins = bool(_PROBLEM.match(text))
        ends = bool(_END.fullmatch(text))
        if ends or (begins and headed):
            if size:
                yield first, b"".join(entry) if size <= longest else None
            entry, size, headed = [], 0, False
        if ends or (not size and line.isspace()):
            continue
        if not size:
            first, headed = number, begins
        size += len(line)
        if size <= longest:
            entry.append(line)
        else:
            entry.clear()
    if size:
        yield first, b"".join(entry) if size <= longest else None


def _lines(pieces: Iterable[bytes], longest: int) -> Iterator[bytes]:
    """The lines with their ends; one that is too long comes in parts."""
    rest, begun = b"", False
    for piece in pieces:
        if not begun:
            piece, begun = piece.removeprefix(BOM), True
        *lines, rest = (rest + piece).replace(b"\r\n", b"\n").splitlines(keepends=True) or [b""]
        yield from lines
        if rest.endswith(b"\n") or len(rest) > longest:
            yield rest
            rest = b""
    if rest:
        yield rest
