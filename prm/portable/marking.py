"""Marks the ends of problem and steps in token ids, so that a server that has only the ids finds every step.

A separator such as a blank line can also occur inside a step. So its last token is replaced by a special token, which
no text contains (`prm.encoding.tokenise`), and the server reads the token that it stands for.
"""

from collections.abc import Collection
from dataclasses import dataclass

import torch
from torch import Tensor

from prm.encoding import Encoded, Layout
from prm.errors import ModelFileError
from prm.messages import Message


@dataclass(frozen=True)
class Marks:
    """The special tokens that stand for the last token of a layout's `problem_end` and of its `step_end`."""

    layout: Layout
    problem: int
    step: int

    @classmethod
    def of(cls, layout: Layout, special: Collection[int]) -> "Marks":
        """The marks of a layout; raises ModelFileError if the vocabulary has too few `special` tokens."""
        inner = {*layout.problem_end[:-1], *layout.step_end[:-1]}
        free = sorted({*special} - {*layout.problem_end, *layout.step_end}, reverse=True)

        def mark(ending: tuple[int, ...]) -> int:
            if ending and ending[-1] in special and ending[-1] not in inner:
                return ending[-1]
            if not ending or not free:
                raise ModelFileError(Message("no_tokens_to_mark"))
            return free.pop()

        step = mark(layout.step_end)
        same = layout.problem_end[-1:] == layout.step_end[-1:]
        return cls(layout, step if same else mark(layout.problem_end), step)

    def mark(self, item: Encoded) -> list[int]:
        """The marked ids of a solution with at least one step."""
        ids = list(item.ids)
        ids[item.spans[0][0] - 1] = self.problem
        for _, end in item.spans:
            ids[end - 1] = self.step
        return ids

    def spans(self, ids: list[int]) -> list[tuple[int, int]]:
        """The [start, end) of each step in marked ids; none without the mark of the problem's end."""
        spans: list[tuple[int, int]] = []
        start = 0
        for place in range(len(self.layout.start), len(ids)):
            if not start:
                start = (ids[place] == self.problem) * (place + 1)
            elif ids[place] == self.step:
                spans.append((start, place + 1))
                start = place + 1
        return spans

    def restore(self, ids: Tensor, positions: Tensor) -> Tensor:
        """The ids for which marked `ids` [tokens] stand; `positions` [tokens] count from 0 in each text."""
        inside = positions >= len(self.layout.start)  # the start may contain the token of a mark
        restored = torch.where(inside & (ids == self.step), self.layout.step_end[-1], ids)
        return torch.where(inside & (ids == self.problem), self.layout.problem_end[-1], restored)
