"""Finds hidden reasoning in a text: the part between `<think>` and `</think>` before the answer."""

import re
from typing import NamedTuple

# A line that opens or closes a code block, code within a line, or a tag.
_MARK = re.compile(
    r"^[ \t]*(?P<fence>```+|~~~+)(?=(?P<info>[^\n]*))|(?P<code>`[^`\n]+`)|<(?P<close>/?)think(?:ing)?>",
    re.IGNORECASE | re.MULTILINE,
)


class Passage(NamedTuple):
    """A stretch of a text without its tags and the white space around it, never blank."""

    text: str
    is_thinking: bool


def passages(text: str) -> list[Passage]:
    """The passages of a text in order.

    An unclosed `<think>` runs to the end of the text. A first `</think>` without an opening tag closes reasoning that
    began with the text: some chat templates write `<think>` into the prompt. Tags inside code count as text, unless
    the code is itself part of the reasoning.
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
    """The fence that is open behind a line of backticks or tildes (CommonMark 4.5); empty for none."""
    if not open_fence:
        return fence
    return "" if fence.startswith(open_fence) and not info.strip() else open_fence
