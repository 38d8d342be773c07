"""The interface of the sandbox's policies, and the final answer of a solution."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from prm.traces import Step

LAST_WORDS = re.compile(r"(?:answer is|done:|result:|prints|output is|comes to|we get|result is) \$?(.+?)\$?\.$", re.I)


class Start(NamedTuple):
    """The start of a continuation: a problem and its existing steps."""

    problem: str
    steps: Sequence[Step] = ()


class Policy(Protocol):
    """Solves problems step by step."""

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        """One sampled continuation of each start, reproducible by `seed`."""


def final_answer(steps: Sequence[Step]) -> str | None:
    """The answer in a sandbox solution's last step, None if it states none."""
    stated = LAST_WORDS.search(steps[-1].text) if steps else None
    return stated[1] if stated else None
