"""The world's own solvers as a policy: they solve any of its problems, and continue from any existing steps.

Each existing step is read for its value, right or wrong, and later steps follow from it. So a solver continues
consistently from an error.
"""

import copy
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from random import Random
from typing import Any

from prm.encoding import TEXT_SEPARATOR
from prm.sandbox.mistakes import Value, simplify
from prm.sandbox.solving import Start
from prm.sandbox.work import ASIDES, GOOD, JUMPS, REMARKS, UNUSUAL_LEADS, Habits, Skill, Work, Wrong
from prm.sandbox.world import WorldConfig, posed
from prm.traces import Step, StepLabel
from prm.vocabulary import SPLITS

NUMBER = re.compile(r"\\frac\{(-?\d+)\}\{(\d+)\}|(-?\d+)/(\d+)|(-?\d+)")
STANDING = "standing"  # the kind of an error in an existing step
BROKEN = (ArithmeticError, IndexError, KeyError, ValueError, TypeError, RecursionError)


class UnknownProblem(Exception):
    """A problem that is not among the first problems of the world."""


@dataclass
class Resumed(Work):
    """A solution whose first steps already exist; `trusted` assumes that their values are right."""

    standing: Sequence[Step] = ()
    trusted: bool = False

    def _wander(self) -> None:
        while self._stands and self._next.text in (*ASIDES, *REMARKS):
            self._write("", GOOD)
        if not self._stands:
            super()._wander()

    def _settle(self, right: Wrong, wrong: Sequence[Wrong], kind: str) -> Any:
        if self._stands:
            self._wander()
        if not self._stands:
            return super()._settle(right, wrong, kind)
        value = right.value if self.trusted else value_in(self._next.text, (right, *wrong))
        if value != right.value:
            self.errors.append((len(self.steps), STANDING))
        self._write("", GOOD)
        self.values.append(value)
        return value

    def _write(self, text: str, label: StepLabel, kind: str = "reasoning") -> None:
        if self._stands:
            text, kind = self._next.text, self._next.kind
        super()._write(text, label, kind)

    @property
    def _stands(self) -> bool:
        return len(self.steps) < len(self.standing)

    @property
    def _next(self) -> Step:
        return self.standing[len(self.steps)]


class SolverPolicy:
    """Solves problems of the world with these habits, among the first `problems` of each split and seed."""

    def __init__(
        self, habits: Habits, *, world: WorldConfig | None = None, problems: int = 600, seeds: Sequence[int] = (0,)
    ) -> None:
        self.habits = habits
        self._known: dict[str, tuple[Skill, str, Work]] = {}
        self._more = _posed(world or WorldConfig(), problems, seeds)

    def with_habits(self, habits: Habits) -> "SolverPolicy":
        """A solver with other habits that knows the same problems."""
        twin = copy.copy(self)
        twin.habits = habits
        return twin

    def continue_from(self, starts: Sequence[Start], *, seed: int) -> list[list[Step]]:
        """The steps that follow each start; raises UnknownProblem."""
        return [self._continue(start, f"{seed}/{number}") for number, start in enumerate(starts)]

    def known_in(self, text: str) -> str | None:
        """The problem that is this text or a paragraph of it, else the longest problem in it; None if there is none."""
        wanted = [text, *text.split(TEXT_SEPARATOR)]
        while not (parts := [part for part in wanted if part in self._known]):
            new = next(self._more, None)
            if new is None:
                return max((problem for problem in self._known if problem in text), key=len, default=None)
            self._known[new[2].problem] = new
        return parts[0]

    def errors_in(self, start: Start) -> list[int]:
        """The positions of existing steps whose values do not follow from the steps before; raises UnknownProblem."""
        skill, story, clean = self._find(start.problem)
        work = Resumed(Random(story), Random(0), self.habits, clean.values, standing=start.steps)
        with suppress(*BROKEN):  # no further step can be read
            skill.solve(work)
        return [position for position, kind in work.errors if kind == STANDING and position < len(start.steps)]

    def _find(self, problem: str) -> tuple[Skill, str, Work]:
        if self.known_in(problem) != problem:
            raise UnknownProblem(f"the sandbox poses no such problem: {problem[:80]!r}")
        return self._known[problem]

    def _continue(self, start: Start, seed: str) -> list[Step]:
        skill, story, clean = self._find(start.problem)
        for trusted in (False, True):
            work = Resumed(
                Random(story), Random(seed), self.habits, clean.values, standing=start.steps, trusted=trusted
            )
            try:
                skill.solve(work)
            except BROKEN:
                continue  # no next step follows from these values
            return work.steps[len(start.steps) :]
        return []


def value_in(text: str, options: Sequence[Wrong]) -> Value:
    """The value in a step: at the "#" of a matching phrasing, else its last number.

    The first option is the right one; its value is the default if the step has none.
    """
    right = options[0].value
    plain = next((text.removeprefix(lead).strip() for lead in UNUSUAL_LEADS if text.startswith(lead)), text)
    for option in options:
        for phrasing in option.text.split("|"):
            match = re.fullmatch(re.escape(phrasing).replace(re.escape("#"), "(.+?)"), plain, re.IGNORECASE)
            if match:
                return option.value if "#" not in phrasing else _as(match[1], option.value)
    for phrasing in JUMPS.split("|"):
        match = re.fullmatch(re.escape(phrasing).replace(re.escape("#"), r"\$?(.+?)\$?"), plain)
        if match:
            return _as(match[1], right)
    return right if isinstance(right, str | bool | list) else _as(text, right)


def _as(text: str, like: Value) -> Value:
    """The text as a value of the type of `like`; `like` itself if that fails."""
    if isinstance(like, bool):
        return {"True": True, "False": False}.get(text, like)
    if isinstance(like, str):
        return text
    numbers = [_number(match) for match in NUMBER.finditer(text)]
    if isinstance(like, list):
        return [int(number) for number in numbers]
    return numbers[-1] if numbers else like


def _number(match: re.Match[str]) -> int | Fraction:
    top, bottom = match[1] or match[3] or match[5], match[2] or match[4] or "1"
    return simplify(Fraction(int(top), int(bottom))) if int(bottom) else 0


def _posed(world: WorldConfig, problems: int, seeds: Sequence[int]) -> Iterator[tuple[Skill, str, Work]]:
    """A hundred problems of each split and seed in turn, so that the first ones of each come early."""
    sources = [posed(world, split=split, seed=seed) for seed in seeds for split in SPLITS]
    for _ in range(0, problems, 100):
        for source in sources:
            yield from islice(source, 100)
