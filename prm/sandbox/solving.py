"""What it means to solve a problem of the sandbox: where one goes on, who does, and what counts as the answer."""

import re
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from prm.traces import Step

LAST_WORDS = re.compile(r"(?:answer is|done:|result:|prints|output is|comes to|we get|result is) \$?(.+?)\$?\.$", re.I)


class Start(NamedTuple):
    """Where a policy goes on: a problem and the steps that already stand."""

    problem: str
    steps: Sequence[Step] = ()


class Policy(Protocol):
    """Something that solves problems step by step."""

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        """The steps that follow each start, one sample a start; the same seed gives the same samples."""


def final_answer(steps: Sequence[Step]) -> str | None:
    """The answer that a sandbox solution ends with, None where its last step states none."""
    stated = LAST_WORDS.search(steps[-1].text) if steps else None
    return stated[1] if stated else None
