"""Reads solutions longer than the context in windows, so that a step's score depends on earlier steps only.

The first window begins at step 0. A window is the problem and some consecutive steps. If the next step does not fit,
the window moves forward until the remaining steps fill at most half of the room beside the problem, and then grows
again. Its start depends only on the lengths of this step and earlier ones, and reading costs at most about twice the
tokens.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from prm.encoding import Encoded, Layout, Pieces, lay_out

Long = Literal["null", "window"]
REMAINING = 0.5  # maximum share of the room beside the problem for earlier steps after a move


@dataclass(frozen=True, slots=True)
class Window:
    """Consecutive steps of a solution: `encoded` begins at step `start`; steps from `first` on are scored."""

    encoded: Encoded
    start: int
    first: int

    @property
    def skipped(self) -> int:
        """The number of encoded steps that are read but not scored."""
        return self.first - self.start


def window_starts(problem: int, steps: Sequence[int], context: int, long: Long) -> list[int | None]:
    """For each step, the start of the window that scores it; None if it is not scored.

    `problem` and `steps` are lengths in tokens, including separators. As long as the solution fits, the window starts
    at 0. With "null", the first step that does not fit and all later ones are not scored. With "window", only a step
    that does not fit beside the problem alone is not scored, and no later window contains it.
    """
    starts: list[int | None] = []
    start, used = 0, problem
    for position, length in enumerate(steps):
        if used + length > context and long == "null":
            return starts + [None] * (len(steps) - position)
        if problem + length > context:
            start, used = position + 1, problem
            starts.append(None)
            continue
        if used + length > context:
            room = min(REMAINING * (context - problem), context - problem - length)
            start, used = _hop(problem, steps[:position], start, room)
        used += length
        starts.append(start)
    return starts


def windows(pieces: Pieces, layout: Layout, context: int, long: Long) -> list[Window]:
    """The windows of one tokenised solution (problem first, then its steps), in order; empty if no step fits."""
    problem, *steps = pieces
    frame = len(layout.start) + len(problem) + len(layout.problem_end)
    around = len(layout.between) + len(layout.step_end)
    starts = window_starts(frame, [len(step) + around for step in steps], context, long)
    cut = []
    for start, scored in groupby(range(len(steps)), key=starts.__getitem__):
        if start is not None:
            first, *more = scored
            end = 1 + (more[-1] if more else first)
            cut.append(Window(lay_out([problem, *steps[start:end]], layout, context), start, first))
    return cut


def _hop(problem: int, steps: Sequence[int], start: int, room: float) -> tuple[int, int]:
    """The start of the longest run of last steps, none before `start`, that fits the room, and the tokens used."""
    begin, length = len(steps), 0
    while begin > start and length + steps[begin - 1] <= room:
        begin -= 1
        length += steps[begin]
    return begin, problem + length
