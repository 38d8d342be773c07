"""The parts of a text that are never split: mathematics, environments and code fences. Linear time."""

import re

Span = tuple[int, int]

_OPENING = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)|(?P<env>\\begin\{[^{}\n]+\})|(?P<display>\$\$|\\\[|\\\()|(?P<inline>\$)|\\.",
    re.MULTILINE,
)
_CLOSING = {"$$": "$$", r"\[": r"\]", r"\(": r"\)"}
_FENCE_LINE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*\r?$", re.MULTILINE)
_ENVIRONMENT = re.compile(r"\\(begin|end)\{([^{}\n]+)\}")
_DOLLAR_OR_BLANK_LINE = re.compile(r"(?<!\\)\$|\n[ \t\r]*\n")


def protected(text: str) -> list[Span]:
    """The spans that stay whole, in order and apart."""
    environments = _environments(text)
    spans = []
    unclosed: set[str] = set()
    at = 0
    while opening := _OPENING.search(text, at):
        at = opening.end()
        if opening["inline"]:
            end = _end_of_inline(text, at)
        elif opening["fence"]:
            end = _end_of_fence(text, at, opening["fence"])
        elif opening["env"]:
            end = environments.get(opening.start("env"), -1)
        else:
            end = _end_of_display(text, at, opening["display"], unclosed)
        if end >= 0:
            spans.append((opening.start(), end))
            at = end
    return spans


def _environments(text: str) -> dict[int, int]:
    """Where each environment ends that begins at a place, those of one name in one another told apart."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for mark in _ENVIRONMENT.finditer(text):
        if mark[1] == "begin":
            opened.setdefault(mark[2], []).append(mark.start())
        elif begun := opened.get(mark[2]):
            ends[begun.pop()] = mark.end()
    return ends


def _end_of_fence(text: str, start: int, fence: str) -> int:
    """A fence ends at one of its own kind, as long at least (CommonMark 4.5), or with the text."""
    for line in _FENCE_LINE.finditer(text, start):
        if line[1].startswith(fence):
            return line.end()
    return len(text)


def _end_of_display(text: str, start: int, opening: str | None, unclosed: set[str]) -> int:
    closing = _CLOSING.get(opening or "", "")
    if not closing or closing in unclosed:
        return -1
    end = text.find(closing, start)
    if end < 0:
        unclosed.add(closing)
        return -1
    return end + len(closing)


def _end_of_inline(text: str, start: int) -> int:
    """Where `$...$` ends, -1 where the dollar is none of mathematics: as in Pandoc, so that prices are none.

    No blank stands inside the dollars, no digit behind them, no blank line between them.
    """
    closing = _DOLLAR_OR_BLANK_LINE.search(text, start)
    if closing is None or closing[0] != "$" or text[start].isspace() or text[closing.start() - 1].isspace():
        return -1
    return -1 if text[closing.end() : closing.end() + 1].isdigit() else closing.end()
