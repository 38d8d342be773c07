"""The first-error threshold, which knows the length of a solution, and the verdict by it. numpy only."""

from collections.abc import Sequence
from math import inf

import msgspec
import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


class Threshold(msgspec.Struct, frozen=True):
    """The score below which a step counts as an error.

    `value` holds for solutions of up to `steps` steps, or for all if that is None. A solution that is n times as long
    has n times as many chances of a false alarm. Its steps count as errors at n times smaller odds of being good, so
    that as many right solutions are rejected whatever their length (Bonferroni's correction, on odds).
    """

    value: float
    steps: int | None = None

    def at(self, steps: int) -> float:
        """The threshold in a solution of so many steps."""
        return self.value / (self.value + (1 - self.value) * self._times(steps))

    def shorten(self, p: Scores, steps: int) -> Scores:
        """The scores that are below `value` if `p` are below the threshold `at` so many steps."""
        good = p * self._times(steps)
        return good / (good + 1 - p)

    def first_below(self, mean: Sequence[float | None]) -> int:
        """Position of the first step of a solution below the threshold, -1 for none; ignores steps without a score."""
        bar = self.at(len(mean))
        return next((position for position, p in enumerate(mean) if p is not None and p < bar), -1)

    def first_error(self, mean: Sequence[float | None]) -> int | None:
        """The verdict on a solution: `first_below`, None if a step was not scored."""
        return None if any(p is None for p in mean) else self.first_below(mean)

    @property
    def sentence(self) -> str:
        """The rule in words, for software that only has the scores."""
        if self.steps is None:
            return f"A score below {self.value:.4f} counts as an error."
        odds = self.value / (1 - self.value) if self.value < 1 else inf
        return (
            f"A score below {self.value:.4f} counts as an error in a solution of up to {self.steps} steps. In one of n "
            f"steps the limit is c / (c + n), with c = {self.steps * odds:.4f}."
        )

    def __str__(self) -> str:
        return f"{self.value:.3f}" if self.steps is None else f"{self.value:.3f} (in up to {self.steps} steps)"

    def _times(self, steps: int) -> float:
        """How many times as long as `self.steps` so many steps are, at least 1."""
        return 1.0 if self.steps is None else max(1.0, steps / self.steps)


UNFITTED = Threshold(0.5)  # without data to fit it on
