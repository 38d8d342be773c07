"""Splits a text into steps and hidden reasoning by a rule.

Rules never split inside mathematics, an environment or a code fence. Only white space between steps is lost. Hidden
reasoning is the text that a model writes between `<think>` and `</think>` before its answer.
"""

import re
from collections.abc import Callable
from itertools import accumulate
from typing import Literal, NamedTuple, get_args

import msgspec

from prm.errors import DataError
from prm.messages import Message
from prm.splitting.automatic import automatic
from prm.splitting.cutting import BLANK_LINE, HEADING, LINE, NUMBER, Span, Text, step_places
from prm.splitting.turns import turns_of
from prm.vocabulary import StepKind

Piece = tuple[str, StepKind]


def split_by(rule: str, text: str) -> list[str]:
    """The steps of a text by one of RULES; empty for a blank text. Raises KeyError for an unknown rule."""
    return [step for step, _ in _pieces(rule, text)[1]]


def _pieces(rule: str, text: str) -> tuple[str, list[Piece]]:
    """The rule that divided the text, and its steps with their kinds."""
    if rule in _OF_ANY_FORM and (turns := turns_of(text)):
        return TURNS, [(text[turn.start : turn.end], turn.kind) for turn in turns]
    whole = Text(text)
    applied, spans = automatic(whole) if rule in _OF_ANY_FORM else (rule, _CUTS[rule](whole))
    steps = (text[start:end] for start, end in spans)
    return applied, [(step, "reasoning") for step in steps if step.strip()]


def _blank_lines(whole: Text) -> list[Span]:
    return whole.cut(BLANK_LINE)


def _lines(whole: Text) -> list[Span]:
    """One step per line, with its indentation, as in code."""
    pieces = []
    for start, end in whole.cut(LINE):
        line = whole.text.rfind("\n", 0, start) + 1
        pieces.append((line if not whole.text[line:start].strip() else start, end))
    return pieces


def _numbered(whole: Text) -> list[Span]:
    """Split at "Step 3", else at headings, else at "3." or "(3)"; at blank lines if none of them occurs twice."""
    for places in (step_places(whole), whole.places(HEADING), whole.places(NUMBER)):
        if len(places) > 1:
            return whole.between(places)
    return _blank_lines(whole)


_CUTS: dict[str, Callable[[Text], list[Span]]] = {
    "blank_lines": _blank_lines,
    "numbered": _numbered,
    "lines": _lines,
    "sentences": Text.sentences,
}
TURNS = "turns"
_OF_ANY_FORM = ("automatic", TURNS)  # a text without turns is split automatically
RULES = ("automatic", *_CUTS, TURNS)


# A line that opens or closes a code block, code within a line, or a tag.
_MARK = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)(?=(?P<info>[^\n]*))|(?P<code>`[^`\n]+`)|<(?P<close>/?)think(?:ing)?>",
    re.IGNORECASE | re.MULTILINE,
)


class Passage(NamedTuple):
    """A part of a text without its tags and surrounding white space; it is not blank."""

    text: str
    is_thinking: bool


def passages(text: str) -> list[Passage]:
    """The passages of a text in order.

    An unclosed `<think>` extends to the end of the text. A first `</think>` without an opening tag ends reasoning that
    began with the text, since some chat templates write `<think>` into the prompt. Tags inside code are text, unless
    the code is part of the reasoning.
    """
    passages_read: list[Passage] = []
    start, thinking, fence, tags = 0, False, "", 0

    def end_passage(end: int, is_thinking: bool) -> None:
        if passage := text[start:end].strip():
            passages_read.append(Passage(passage, is_thinking))

    for mark in _MARK.finditer(text):
        if mark["close"] is None:
            if mark["fence"] and not thinking:
                fence = _fence_after(fence, mark["fence"], mark["info"])
        elif not fence and not (thinking and not mark["close"]):
            end_passage(mark.start(), thinking or bool(mark["close"] and not tags))
            start, thinking, tags = mark.end(), not mark["close"], tags + 1
    end_passage(len(text), thinking)
    return passages_read


def _fence_after(open_fence: str, fence: str, info: str) -> str:
    """The fence that is open after a line of backticks or tildes (CommonMark 4.5); empty if there is none."""
    if not open_fence:
        return fence
    return "" if fence.startswith(open_fence) and not info.strip() else open_fence


Thinking = Literal["separate", "drop", "keep"]
THINKING: tuple[Thinking, ...] = get_args(Thinking)


class SplitText(msgspec.Struct, frozen=True):
    """The steps of a text and their kinds, which are "reasoning" except in an agent run and after kept reasoning.

    `rule` is the rule that divided the text; "automatic" chooses one. `thinking` is the hidden reasoning, empty unless
    the choice is "separate". `thinking_length` counts the characters of all hidden reasoning under every choice.
    """

    steps: list[str]
    kinds: list[StepKind]
    rule: str
    thinking: str = ""
    thinking_length: int = 0


class Splitting(msgspec.Struct, frozen=True):
    """How to split: a rule of `RULES`, and the treatment of hidden reasoning (`<think>…</think>`).

    "separate" returns the reasoning separately, "drop" discards it, "keep" splits it into steps like the rest, the last
    of which is then the answer. Raises DataError for an unknown choice.
    """

    rule: str = "automatic"
    thinking: Thinking = "separate"

    def __post_init__(self) -> None:
        for value, known in ((self.rule, tuple(RULES)), (self.thinking, THINKING)):
            if value not in known:
                raise DataError(Message("unknown_way_to_split", value=value, known=", ".join(known)))

    def split(self, text: str) -> SplitText:
        """The steps of a text, with Windows line ends read as plain ones; no steps for a blank text."""
        parts = passages(text.replace("\r\n", "\n"))
        hidden = [part.text for part in parts if part.is_thinking]
        applied, steps = self._steps(parts)
        if self.thinking == "keep" and hidden and not parts[-1].is_thinking and steps[-1][1] == "reasoning":
            steps[-1] = (steps[-1][0], "answer")
        return SplitText(
            steps=[step for step, _ in steps],
            kinds=[kind for _, kind in steps],
            rule=applied,
            thinking="\n\n".join(hidden) if self.thinking == "separate" else "",
            thinking_length=sum(map(len, hidden)),
        )

    def _steps(self, parts: list[Passage]) -> tuple[str, list[Piece]]:
        """The rule that divided the visible text, and the steps; a run is recognised with its reasoning left out."""
        visible = [part.text for part in parts if not part.is_thinking]
        starts = [*accumulate((len(text) + 1 for text in visible), initial=0)]
        run = "\n".join(visible)
        turns = turns_of(run, starts[1:-1]) if self.rule in _OF_ANY_FORM else []
        applied, steps, place = self.rule, list[Piece](), 0
        for part in parts:
            if part.is_thinking and self.thinking == "keep":
                steps += [(step, "reasoning") for step in split_by(self.rule, part.text)]
            elif not part.is_thinking and turns:
                applied = TURNS
                within = (turn for turn in turns if starts[place] <= turn.start < starts[place + 1])
                steps += [(run[turn.start : turn.end], turn.kind) for turn in within]
                place += 1
            elif not part.is_thinking:
                applied, pieces = _pieces(self.rule, part.text)
                steps += pieces
        return applied, steps
