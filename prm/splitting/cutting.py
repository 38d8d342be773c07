"""Cuts a text at a pattern, but never inside mathematics, environments and code fences.

Pieces are spans without surrounding white space. Time is linear in the text's length.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

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
    """The spans that are never split, in order and disjoint."""
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
    """The end of each environment by its start; nested environments of the same name are matched."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for mark in _ENVIRONMENT.finditer(text):
        if mark[1] == "begin":
            opened.setdefault(mark[2], []).append(mark.start())
        elif begun := opened.get(mark[2]):
            ends[begun.pop()] = mark.end()
    return ends


def _end_of_fence(text: str, start: int, fence: str) -> int:
    """The end of a code block: at a fence of the same kind and at least its length (CommonMark 4.5), or of the text."""
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
    """The end of `$...$`, -1 if the dollar does not begin mathematics. As in Pandoc, prices do not count.

    There is no blank inside the dollars, no digit after them, and no blank line between them.
    """
    closing = _DOLLAR_OR_BLANK_LINE.search(text, start)
    if closing is None or closing[0] != "$" or text[start].isspace() or text[closing.start() - 1].isspace():
        return -1
    return -1 if text[closing.end() : closing.end() + 1].isdigit() else closing.end()


BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
LINE = re.compile(r"\n")
STEP_MARK = re.compile(r"^(?=[ \t]*(?:[*_#>]+[ \t]*)?step[ \t]+\d+)", re.IGNORECASE | re.MULTILINE)
_STEP_WITHIN = re.compile(r"(?:^|\s)(?=(?:[*_]+)?step[ \t]+(\d{1,3})[*_]*:)", re.IGNORECASE | re.MULTILINE)
HEADING = re.compile(r"^(?=#{1,6}[ \t]+\S)", re.MULTILINE)
NUMBER = re.compile(r"^(?=[ \t]*(?:\*\*)?(?:\d{1,3}[.)]|\(\d{1,3}\))(?:\*\*)?[ \t]+\S)", re.MULTILINE)
_CLOSERS = "\"')]»”’」』"
_SENTENCE = re.compile(
    rf"(?<=[.!?…])[{re.escape(_CLOSERS)}]*\s+(?=[\"'(\[$\\«“‘]*(?![a-zß-öø-ÿα-ωа-я])[\w$\\])"
    r"|(?<=[。！？])[」』”]*(?=\s*[^\s」』”])|\n[ \t\r]*\n\s*"
)
_NO_SENTENCE_END = re.compile(
    r"(?:\b(?:e\.g|i\.e|cf|vs|etc|resp|approx|Dr|Mr|Mrs|Ms|Prof|St|No|Fig|Eq|Sec|Thm|Def|Ex)\.|^[ \t]*\d+\.)$",
    re.MULTILINE,
)


class Text:
    """A text to cut, with its protected spans."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.protected = protected(text)

    def cut(
        self, at: re.Pattern[str], *, within: Span | None = None, unless: re.Pattern[str] | None = None
    ) -> list[Span]:
        """The pieces between the matches, without blank ones."""
        start, stop = within or (0, len(self.text))
        pieces = []
        for left, right in [*self.places(at, within=(start, stop), unless=unless), (stop, stop)]:
            pieces.append(self.trimmed((start, left)))
            start = right
        return [piece for piece in pieces if piece[0] < piece[1]]

    def between(self, places: Sequence[Span]) -> list[Span]:
        """The pieces that begin at the places, and the text before the first one."""
        bounds = [0, *(start for start, _ in places), len(self.text)]
        pieces = [self.trimmed(bound) for bound in pairwise(bounds)]
        return [piece for piece in pieces if piece[0] < piece[1]]

    def sentences(self, within: Span | None = None) -> list[Span]:
        return self.cut(_SENTENCE, within=within, unless=_NO_SENTENCE_END)

    def places(
        self, at: re.Pattern[str], *, within: Span | None = None, unless: re.Pattern[str] | None = None
    ) -> list[Span]:
        """The matches outside protected spans; closing quotes in a match belong to the piece before it."""
        start, stop = within or (0, len(self.text))
        places, index = [], bisect_right(self.protected, start, key=lambda span: span[1])
        for match in at.finditer(self.text, start, stop):
            while index < len(self.protected) and self.protected[index][1] <= match.start():
                index += 1
            if index < len(self.protected):
                opened, _ = self.protected[index]
                if opened < match.end() and match.start() > opened:
                    continue
            if unless and unless.search(self.text, max(0, match.start() - 20), match.start()):
                continue
            end = match.start() + len(match[0]) - len(match[0].lstrip(_CLOSERS))
            places.append((end, match.end()))
        return places

    def trimmed(self, span: Span) -> Span:
        piece = self.text[span[0] : span[1]]
        return span[0] + len(piece) - len(piece.lstrip()), span[1] - len(piece) + len(piece.rstrip())


def step_places(whole: Text) -> list[Span]:
    """The places of "Step 1", "Step 2" and so on: at the beginnings of lines, or also within lines if more count up."""
    places = whole.places(STEP_MARK)
    counted: list[Span] = []
    for place in whole.places(_STEP_WITHIN):
        if int(_STEP_WITHIN.match(whole.text, place[0])[1]) == len(counted) + 1:  # type: ignore[index]
            counted.append(place)
    return counted if len(counted) > len(places) else places
