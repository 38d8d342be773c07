"""Solutions in other words, for pretraining: unrelated text around steps, other marks, other signs and another order.

A backbone that has read them is not surprised by a number only because the words before it are new. The unrelated text
is English prose from Python's own documentation; it is read but not learned. The edits of the gaming audit use other
words, marks and signs, so the audit measures text that the backbone has not read. Swapped operands and repeated steps
have one form only, and the audit has them too.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from random import Random
from typing import Self

from prm.encoding import render_step
from prm.traces import Step

KINDS = ("lead", "tail", "number", "bullet", "signs", "order", "aside", "recall")
SIGNS = {
    " * ": (" x ", " times ", " by "),
    r" \times ": (r" \ast ", r" \star ", " x "),
    r" \div ": (" : ", " over "),
    " / ": (" : ", " over "),
    " + ": (" plus ", " & "),
    " - ": (" minus ",),
}
EQUALS = (" equals ", " -> ", " gives ", " == ", " makes ")
NUMBERS = ("({}) ", "{}) ", "{}. ", "#{}: ", "Part {} - ", "[{}] ", "Line {}. ", "{} > ")
BULLETS = ("* ", "• ", "> ", "+ ", "~ ", "# ", "-- ", "")
SHAPES = ("_{}_", "__{}__", "`{}`", '"{}"', "<{}>", "{}")
_ALONE = r"(?<![\w.,)}^/*+×\\-])(?<![-+*/×^=)}] )"
PAIR = re.compile(_ALONE + r"(\d[\d.]*) (\+|\*|\\times) (\d[\d.]*)(?= =)")
TRIPLE = re.compile(_ALONE + r"(\d+) (\+|\*) (\d+) \2 (\d+)(?= =)")

Piece = tuple[str, bool]  # text, and whether the backbone learns to predict it


@cache
def _prose() -> list[str]:
    from pydoc_data.topics import topics

    return [word for text in topics.values() for word in re.findall(r"[A-Za-z]+(?:'[a-z]+)?[,.]?", text)]


def _words(rng: Random, low: int, high: int) -> str:
    """Successive words of the prose, between `low` and `high` of them, the first one capitalised."""
    prose = _prose()
    count = rng.randint(low, high)
    start = rng.randrange(len(prose) - count)
    return " ".join(prose[start : start + count]).rstrip(",.").capitalize()


def _lead(rng: Random) -> str:
    return _words(rng, 1, 4) + rng.choice((", ", ": ", ". ", " "))


def _tail(rng: Random, ends: tuple[str, ...]) -> str:
    return " " + _words(rng, 2, 9) + rng.choice(ends)


@dataclass(frozen=True)
class _Style:
    """What is done to the steps of one text, each with this chance; a lead or tail of None is new for each step."""

    kinds: frozenset[str]
    chance: float
    tail: str | None
    lead: str | None
    number: str
    start: int
    bullet: str
    shape: str
    signs: dict[str, str]
    equals: str | None

    @classmethod
    def draw(cls, rng: Random) -> Self:
        return cls(
            kinds=frozenset(rng.sample(KINDS, rng.choice((1, 1, 2, 2, 3)))),
            chance=rng.choice((0.3, 1.0, 1.0)),
            tail=_tail(rng, (".", ".", "!", "")) if rng.random() < 0.5 else None,
            lead=_lead(rng) if rng.random() < 0.3 else None,
            number=rng.choice(NUMBERS),
            start=rng.choice((0, 1, 1, 1)),
            bullet=rng.choice(BULLETS),
            shape=rng.choice(SHAPES),
            signs={sign: rng.choice(others) for sign, others in SIGNS.items()} if rng.random() < 0.7 else {},
            equals=rng.choice(EQUALS) if rng.random() < 0.3 else None,
        )

    def write(self, text: str, place: int, rng: Random) -> list[Piece]:
        """A step of prose in this style; `place` is its position among the solution's steps."""
        before = after = ""
        if "order" in self.kinds:
            text = PAIR.sub(r"\3 \2 \1", TRIPLE.sub(lambda match: _in_another_order(match, rng), text))
        if "signs" in self.kinds:
            for sign, other in self.signs.items():
                text = text.replace(sign, other)
            text = text.replace(" = ", self.equals or " = ")
        if "bullet" in self.kinds:
            before = self.bullet
            text = re.sub(r"^[A-Za-z]+", lambda word: self.shape.format(word[0]), text)
        if "lead" in self.kinds:
            first, space, rest = text.partition(" ")
            if "bullet" not in self.kinds and first.isalpha() and rng.random() < 0.7:
                text = first[:1].lower() + first[1:] + space + rest
            before = (self.lead or _lead(rng)) + before
        if "number" in self.kinds:
            before = self.number.format(place + self.start) + before
        if "tail" in self.kinds:
            after = self.tail or _tail(rng, (".", "!", ""))
        return [piece for piece in ((before, False), (text, True), (after, False)) if piece[0]]


def _in_another_order(match: re.Match[str], rng: Random) -> str:
    one, sign, two, three = match.groups()
    return f" {sign} ".join(rng.choice(((three, one, two), (three, two, one), (two, one, three))))


def reword(steps: Iterable[Step], rng: Random) -> list[list[Piece]]:
    """The steps in other words, as the pieces of their texts; there can be more steps than before."""
    style = _Style.draw(rng)
    written: list[list[Piece]] = []
    for place, step in enumerate(steps):
        prose, text = step.is_prose, render_step(step)
        changed = prose and rng.random() < style.chance
        pieces = style.write(text, place, rng) if changed else [(text, True)]
        if "aside" in style.kinds and rng.random() < 0.3:
            written.append([(_words(rng, 3, 10) + rng.choice((".", "", "!")), False)])
        written.append(pieces)
        if "recall" in style.kinds and prose and rng.random() < 0.2:
            again = written[-min(rng.choice((1, 1, 2, 3)), len(written))]
            if all(learned for _, learned in again):
                announced = [(_words(rng, 1, 2) + ": ", False)] if rng.random() < 0.4 else []
                written.append([*announced, *again])
    return written
