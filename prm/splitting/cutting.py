"""Splits a text at a pattern outside protected parts. Pieces are spans without surrounding white space."""

import re
from bisect import bisect_right

from prm.splitting.protection import Span, protected

BLANK_LINE = re.compile(r"\n[ \t\r]*\n\s*")
LINE = re.compile(r"\n")
STEP_MARK = re.compile(r"^(?=[ \t]*(?:[*_#>]+[ \t]*)?step[ \t]+\d+)", re.IGNORECASE | re.MULTILINE)
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
    """A text to be cut, and what of it is protected."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.protected = protected(text)

    def cut(
        self, at: re.Pattern[str], *, within: Span | None = None, unless: re.Pattern[str] | None = None
    ) -> list[Span]:
        """The pieces between the matches, none of them blank."""
        start, stop = within or (0, len(self.text))
        pieces = []
        for left, right in [*self.places(at, within=(start, stop), unless=unless), (stop, stop)]:
            pieces.append(self.trimmed((start, left)))
            start = right
        return [piece for piece in pieces if piece[0] < piece[1]]

    def sentences(self, within: Span | None = None) -> list[Span]:
        return self.cut(_SENTENCE, within=within, unless=_NO_SENTENCE_END)

    def places(
        self, at: re.Pattern[str], *, within: Span | None = None, unless: re.Pattern[str] | None = None
    ) -> list[Span]:
        """Where the pattern matches outside what is protected; quotes that it closes belong to the piece before."""
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
