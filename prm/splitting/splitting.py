"""How a text is split, and the steps and the hidden reasoning that come out."""

from typing import Literal, get_args

import msgspec

from prm.errors import DataError
from prm.messages import Message
from prm.splitting.rules import RULES, split_by
from prm.splitting.thinking import passages

Thinking = Literal["separate", "drop", "keep"]
THINKING: tuple[Thinking, ...] = get_args(Thinking)


class SplitText(msgspec.Struct, frozen=True):
    """The steps of a text. `thinking` is the hidden reasoning beside them, empty unless the choice is "separate".

    `thinking_length` counts the characters of all hidden reasoning in the text, whatever the choice.
    """

    steps: list[str]
    thinking: str = ""
    thinking_length: int = 0


class Splitting(msgspec.Struct, frozen=True):
    """How to split: a rule of `RULES`, and what to do with hidden reasoning (`<think>…</think>`).

    "separate" returns the reasoning beside the steps, "drop" discards it, "keep" splits it into steps like the rest.
    Raises DataError for an unknown choice.
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
        shown = [part.text for part in parts if self.thinking == "keep" or not part.is_thinking]
        return SplitText(
            steps=[step for part in shown for step in split_by(self.rule, part)],
            thinking="\n\n".join(hidden) if self.thinking == "separate" else "",
            thinking_length=sum(map(len, hidden)),
        )
