"""Splits a text of unknown form by its structure, and joins pieces that are not steps by themselves."""

import re
from collections.abc import Callable

from prm.splitting.cutting import BLANK_LINE, HEADING, LINE, NUMBER, Span, Text, step_places

LONGEST = 1500  # characters; a longer step is divided if possible
PACKED = 500  # characters up to which the parts of a longer step are joined

_NUMBER_AT = re.compile(r"[ \t]*(?:\*\*)?\(?(\d{1,3})")
_INDENT = re.compile(r"[ \t]*")
_HEADING_ALONE = re.compile(r"#{1,6}[ \t]+[^\n]*|(?:\*\*|__)[^\n*_]{1,80}(?:\*\*|__):?")
_GOES_ON = re.compile(r"[:,;]\**$|\b(?:is|are|that|get|have|and|or|where|with)$", re.IGNORECASE)
_SAYS_NOTHING = re.compile(r"[\W_]*")
_TABLE = re.compile(r"(?:[ \t]*\|[^\n]*\|[ \t]*\r?(?:\n|$))+")
_SENTENCE_CLOSED = re.compile(r"[.!?。！？…:;,\\}\])`$|*]\**$")


def automatic(whole: Text) -> tuple[str, list[Span]]:
    """The rule that fits the text, and its steps.

    The text is split at "Step 1", headings or a numbered list if there are any, else at blank lines, lines or
    sentences.
    """
    for places in (step_places(whole), whole.places(HEADING), _counting(whole.text, whole.places(NUMBER))):
        if len(places) > 1:
            return "numbered", _put_together(whole, _divided(whole, whole.between(places)))
    pieces = _put_together(whole, whole.cut(BLANK_LINE))
    rule = "blank_lines"
    if len(pieces) < 2:
        pieces, rule = _put_together(whole, _by_lines(whole)), "lines"
    if len(pieces) < 2:
        pieces, rule = _put_together(whole, whole.sentences()), "sentences"
    return rule, _put_together(whole, _divided(whole, pieces))


def _counting(text: str, places: list[Span]) -> list[Span]:
    """The marks of the outermost list: 1, 2, 3 and so on, none indented more than the first.

    Empty if the list begins in the second half of the text.
    """
    counted: list[Span] = []
    indent = 0
    for place in places:
        depth = len(_INDENT.match(text, place[0])[0])  # type: ignore[index]
        number = int(_NUMBER_AT.match(text, place[0])[1])  # type: ignore[index]
        if number == 1 and not counted:
            indent = depth
        if number == len(counted) + 1 and depth <= indent:
            counted.append(place)
    return counted if counted and counted[0][0] <= len(text) // 2 else []


def _by_lines(whole: Text) -> list[Span]:
    """The lines if most of them end a sentence or a formula, else the whole text, which is wrapped."""
    lines = whole.cut(LINE)
    closed = sum(bool(_SENTENCE_CLOSED.search(whole.text, max(start, end - 5), end)) for start, end in lines)
    return lines if 2 * closed > len(lines) else [whole.trimmed((0, len(whole.text)))]


def _divided(whole: Text, pieces: list[Span]) -> list[Span]:
    """The pieces, with long ones divided at blank lines, lines or sentences."""
    finer: list[Callable[[Span], list[Span]]] = [
        lambda span: whole.cut(BLANK_LINE, within=span),
        lambda span: whole.cut(LINE, within=span),
        whole.sentences,
    ]
    for cut in finer:
        pieces = [
            part for piece in pieces for part in (_packed(cut(piece)) if piece[1] - piece[0] > LONGEST else [piece])
        ]
    return pieces


def _packed(parts: list[Span]) -> list[Span]:
    """The parts, with neighbours joined while they are short."""
    packed: list[Span] = []
    for part in parts:
        if packed and part[1] - packed[-1][0] <= PACKED:
            packed[-1] = (packed[-1][0], part[1])
        else:
            packed.append(part)
    return packed


def _put_together(whole: Text, pieces: list[Span]) -> list[Span]:
    """The pieces, with a heading or an unfinished sentence joined to the next piece, and a formula, table or code block
    to the previous one."""
    blocks = {whole.trimmed(span) for span in whole.protected}
    joined: list[Span] = []
    goes_on = False
    for start, end in pieces:
        piece = whole.text[start:end] if end - start <= LONGEST else ""
        no_step = bool(piece) and (bool(_SAYS_NOTHING.fullmatch(piece)) or bool(_TABLE.fullmatch(piece)))
        if joined and (goes_on or no_step or (start, end) in blocks) and end - joined[-1][0] <= 2 * LONGEST:
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
        goes_on = bool(_HEADING_ALONE.fullmatch(piece)) or bool(_GOES_ON.search(whole.text, max(start, end - 10), end))
    return joined
