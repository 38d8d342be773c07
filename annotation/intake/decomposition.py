"""Splitting a solution's text into steps, never inside mathematics, an environment or a code fence.

Nothing but white space between steps is lost: joined again, the steps are the text.
"""

import re
from collections.abc import Callable, Iterator

_OPENING = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)|\\begin\{(?P<env>[^{}\n]+)\}|(?P<display>\$\$|\\\[|\\\()|(?P<inline>\$)|\\.",
    re.MULTILINE,
)
_CLOSING = {"$$": "$$", r"\[": r"\]", r"\(": r"\)"}
_FENCE_LINE = re.compile(r"^[ \t]*(?:```+|~~~+)[ \t]*\r?$", re.MULTILINE)
_DOLLAR_OR_BLANK_LINE = re.compile(r"(?<!\\)\$|\n[ \t\r]*\n")

_BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
_LINE = re.compile(r"\n")
_MARKERS = [
    re.compile(r"^(?=[ \t]*(?:[*_#>]+[ \t]*)?step[ \t]+\d+)", re.IGNORECASE | re.MULTILINE),
    re.compile(r"^(?=#{1,6}[ \t]+\S)", re.MULTILINE),
    re.compile(r"^(?=[ \t]*(?:\*\*)?(?:\d{1,3}[.)]|\(\d{1,3}\))(?:\*\*)?[ \t]+\S)", re.MULTILINE),
]
_SENTENCE = re.compile(r"(?<=[.!?])[\"')\]]*\s+(?=[\"'(\[$\\]*[A-Z0-9$\\])|\n[ \t\r]*\n\s*")
_NO_SENTENCE_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|approx|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Eq|Sec|Thm|Def|Ex)\.|^[ \t]*\d+\.)$",
    re.MULTILINE,
)


def decompose(text: str, rule: str) -> list[str]:
    """The steps of a text by one of RULES; empty for a blank text. Raises KeyError for an unknown rule."""
    return [step for step in RULES[rule](text) if step]


def _blank_lines(text: str) -> Iterator[str]:
    return _cut(text, _BLANK_LINE)


def _lines(text: str) -> Iterator[str]:
    """One step a line with its indentation, as in code."""
    return (piece.strip("\r\n").rstrip() for piece in _cut(text, _LINE, strip=False))


def _numbered(text: str) -> Iterator[str]:
    """At "Step 3", else at headings, else at "3." or "(3)"; by blank lines where none stands twice."""
    for marker in _MARKERS:
        if len(_places(text, marker)) > 1:
            return _cut(text, marker)
    return _blank_lines(text)


def _sentences(text: str) -> Iterator[str]:
    return _cut(text, _SENTENCE, unless=_NO_SENTENCE_END)


def _cut(text: str, at: re.Pattern[str], *, unless: re.Pattern[str] | None = None, strip: bool = True) -> Iterator[str]:
    start = 0
    for left, right in [*_places(text, at, unless), (len(text), len(text))]:
        yield text[start:left].strip() if strip else text[start:left]
        start = right


def _places(text: str, at: re.Pattern[str], unless: re.Pattern[str] | None = None) -> list[tuple[int, int]]:
    """Where the pattern matches outside what is protected; the text in the match belongs to the step before it."""
    protected = _protected(text)
    places, index = [], 0
    for match in at.finditer(text):
        while index < len(protected) and protected[index][1] <= match.start():
            index += 1
        inside = index < len(protected) and protected[index][0] < match.end() and match.start() > protected[index][0]
        if inside or (unless and unless.search(text, max(0, match.start() - 20), match.start())):
            continue
        kept = match.start() + len(match[0]) - len(match[0].lstrip("\"')]"))
        places.append((kept, match.end()))
    return places


def _protected(text: str) -> list[tuple[int, int]]:
    """Spans of fences, environments and mathematics, in order; time grows with the text's length only."""
    spans = []
    unclosed: set[str] = set()
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.end()
        closing = _closing(opening)
        if opening["inline"]:
            end = _end_of_inline(text, at)
        elif opening["fence"]:
            fence = _FENCE_LINE.search(text, at)
            end = fence.end() if fence else len(text)
        elif not closing or closing in unclosed:
            end = -1
        else:
            found = text.find(closing, at)
            end = found + len(closing) if found >= 0 else -1
            if found < 0:
                unclosed.add(closing)
        if end >= 0:
            spans.append((opening.start(), end))
            at = end
    return spans


def _closing(opening: re.Match[str]) -> str:
    return rf"\end{{{opening['env']}}}" if opening["env"] else _CLOSING.get(opening["display"] or "", "")


def _end_of_inline(text: str, start: int) -> int:
    """Where `$...$` ends, -1 where the dollar is none of mathematics: as in Pandoc, so that prices are none.

    No blank stands inside the dollars, no digit behind them, no blank line between them.
    """
    closing = _DOLLAR_OR_BLANK_LINE.search(text, start)
    if closing is None or closing[0] != "$" or text[start].isspace() or text[closing.start() - 1].isspace():
        return -1
    return -1 if text[closing.end() : closing.end() + 1].isdigit() else closing.end()


RULES: dict[str, Callable[[str], Iterator[str]]] = {
    "blank_lines": _blank_lines,
    "numbered": _numbered,
    "lines": _lines,
    "sentences": _sentences,
}
