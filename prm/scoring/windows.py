"""Solutions longer than the context: read whole as far as they fit, then in windows that see only earlier steps.

A window is the problem and some consecutive steps. Its first step is chosen when the step under way does not
fit any more, from the lengths of that step and of earlier ones: the window then hops to where the kept steps
fill at most half of the room beside the problem, and fills up again with the steps that follow, all in one
pass. So a step's score never depends on a later one, and reading costs about twice the tokens at most.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from prm.encoding import Encoded, Layout, Pieces, lay_out

Long = Literal["null", "window"]
KEPT = 0.5  # share of the room beside the problem that earlier steps may fill after a hop


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of one solution as it is read: `encoded` begins at `start`; steps from `first` on are scored."""

    encoded: Encoded
    start: int
    first: int

    @property
    def skipped(self) -> int:
        """How many of the encoded steps are there to be read only."""
        return self.first - self.start


def window_starts(problem: int, steps: Sequence[int], context: int, long: Long) -> list[int | None]:
    """For each step, the start of the window that scores it; None if it is not scored.

    `problem` and `steps` are lengths in tokens, separators included. As long as the solution fits, windows begin
    at 0. With "null", no step is scored from the first that does not fit on. With "window", only a step that
    does not fit beside the problem alone is left out, and no later window reaches back over it.
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
            room = min(KEPT * (context - problem), context - problem - length)
            start, used = _hop(problem, steps[:position], start, room)
        used += length
        starts.append(start)
    return starts


def windows(pieces: Pieces, layout: Layout, context: int, long: Long) -> list[Window]:
    """The windows of one tokenised solution (problem first, then its steps), in order; empty if no step fits."""
    problem, *steps = pieces
    frame = len(layout.start) + len(problem) + len(layout.problem_end)
    starts = window_starts(frame, [len(step) + len(layout.step_end) for step in steps], context, long)
    cut = []
    for start, scored in groupby(range(len(steps)), key=starts.__getitem__):
        if start is not None:
            first, *more = scored
            end = 1 + (more[-1] if more else first)
            cut.append(Window(lay_out([problem, *steps[start:end]], layout, context), start, first))
    return cut


def _hop(problem: int, steps: Sequence[int], start: int, room: float) -> tuple[int, int]:
    """The longest run of last steps, none before `start`, that fits the room: where it begins, and tokens used."""
    begin, length = len(steps), 0
    while begin > start and length + steps[begin - 1] <= room:
        begin -= 1
        length += steps[begin]
    return begin, problem + length
