"""A token budget that is never exceeded: a call's maximum is reserved before it, not counted afterwards."""

import math
from collections.abc import Sequence

from prm.rendering import render_step
from prm.search.endpoint import Cost, Prefix


class Budget:
    """The `tokens` that may still be spent, prompts included; None for no bound.

    Before the first call a prompt is reserved at one token a character, later at the rate that the server reported.
    """

    def __init__(self, tokens: int | None) -> None:
        self._left = tokens
        self._per_character = 1.0
        self._usual = 1  # tokens of a sample so far: a call is not asked if its samples would be cut before that

    def affords(self, prefixes: Sequence[Prefix], *, most: int) -> int:
        """The number of samples per prefix that the budget allows, at most `most`."""
        if self._left is None:
            return most
        return max(0, min(most, self._for_samples(prefixes) // (self._usual * len(prefixes))))

    def longest(self, prefixes: Sequence[Prefix], n: int) -> int | None:
        """The tokens that each of `n` samples of each prefix may have."""
        return None if self._left is None else self._for_samples(prefixes) // (n * len(prefixes))

    def spend(self, prefixes: Sequence[Prefix], n: int, cost: Cost) -> None:
        """Subtract the tokens of a call."""
        if self._left is None:
            return
        self._left -= cost.tokens
        self._per_character = max(cost.prompt_tokens, 1) / _characters(prefixes)
        self._usual = max(1, math.ceil(cost.completion_tokens / (n * len(prefixes))))

    def _for_samples(self, prefixes: Sequence[Prefix]) -> int:
        assert self._left is not None, "asked of a bound only"
        return self._left - math.ceil(self._per_character * _characters(prefixes))


def _characters(prefixes: Sequence[Prefix]) -> int:
    return sum(len(one.problem) + sum(len(render_step(step)) for step in one.steps) for one in prefixes) or 1
