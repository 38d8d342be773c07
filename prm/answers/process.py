r"""A grader that uses algebra in a separate process, which can be killed.

with Grader() as grader:
    grader.grade_many([(r"\frac{1}{\sqrt{2}}", r"\frac{\sqrt{2}}{2}")])  # [True]
"""

import json
import selectors
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from types import TracebackType
from typing import Self

from prm.answers.grading import agrees, grade, needs_algebra, normalised

HOME = Path(__file__).parents[2]  # where Python finds this package
SECONDS_EACH = 3.0
GRACE = 2.0  # seconds beyond the limit for an interrupted child to answer
STARTING = 60.0  # seconds for a child to load its libraries, even on a busy machine
MEGABYTES = 1024
REMEMBERED = 20_000


class Grader:
    """Grades answers with `grade`, and those that need algebra in a child process, started when first needed.

    The child has `megabytes` of address space and `seconds_each` per answer; if it exceeds them it is killed and
    replaced. That answer is None, and the batch continues. Threads can share a grader and wait for each other.
    """

    def __init__(self, *, seconds_each: float = SECONDS_EACH, megabytes: int = MEGABYTES) -> None:
        self._seconds, self._megabytes = seconds_each, megabytes
        self._child: subprocess.Popen[bytes] | None = None
        self._known: dict[tuple[str, str], bool | None] = {}
        self._turn = Lock()
        self._until: float | None = None
        self.killed = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop the child; the grader can be used again."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.communicate()

    def grade(self, stated: str, reference: str) -> bool | None:
        """Whether an answer equals the reference; None if unknown within the limits of time and memory."""
        verdict = grade(stated, reference)
        if verdict is not None or self._is_late() or not needs_algebra(stated, reference):
            return verdict
        pair = (stated, reference)
        with self._turn:
            if pair not in self._known:
                if len(self._known) >= REMEMBERED:
                    self._known.clear()
                self._known[pair] = self._ask(stated, reference)
            return self._known[pair]

    def agrees(self, solution: str, reference: str) -> bool | None:
        """Whether a solution's text gives the reference answer; None if unknown."""
        return agrees(solution, reference, graded=self.grade)

    def judge(self, stated: str | None, solution: str, reference: str) -> bool | None:
        """Whether a solution gives the reference, by its stated answer if known, else by its text."""
        return self.agrees(solution, reference) if stated is None else self.grade(stated, reference)

    def grade_many(self, pairs: Iterable[tuple[str, str]], *, seconds_in_all: float | None = None) -> list[bool | None]:
        """`grade` of each pair of an answer and its reference, in order.

        After `seconds_in_all` the child is not used, and answers that need it are None.
        """
        with self._within(seconds_in_all):
            return [self.grade(*pair) for pair in pairs]

    def judge_many(
        self, solutions: Iterable[tuple[str | None, str, str]], *, seconds_in_all: float | None = None
    ) -> list[bool | None]:
        """`judge` of each of a stated answer, a solution's text and the reference; see `grade_many`."""
        with self._within(seconds_in_all):
            return [self.judge(*solution) for solution in solutions]

    @contextmanager
    def _within(self, seconds: float | None) -> Iterator[None]:
        self._until = None if seconds is None else time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = None

    def _is_late(self) -> bool:
        return self._until is not None and time.monotonic() > self._until

    def _ask(self, stated: str, reference: str) -> bool | None:
        question = json.dumps([stated, reference, self._seconds]).encode() + b"\n"
        child = self._child or self._start()
        if child is None:
            return None
        self._child = child
        try:
            assert child.stdin is not None, "opened as a pipe"
            child.stdin.write(question)
            child.stdin.flush()
        except BrokenPipeError:
            answer = None
        else:
            answer = _line(child, self._seconds + GRACE)
        if answer is None:
            self.killed += 1
            self.close()
            return None
        verdict: bool | None = json.loads(answer)
        return verdict

    def _start(self) -> subprocess.Popen[bytes] | None:
        child = subprocess.Popen(
            [sys.executable, "-m", "prm.answers.child", str(self._megabytes)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=HOME,
            env={},  # without the platform's secrets
        )
        if _line(child, STARTING) is not None:
            return child
        child.kill()
        child.communicate()
        return None


def _line(child: subprocess.Popen[bytes], seconds: float) -> bytes | None:
    """The next line from a child; None if it ends or does not answer within `seconds`."""
    assert child.stdout is not None, "opened as a pipe"
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        if not selector.select(seconds):
            return None
    return child.stdout.readline() or None


MOST_COMPARED = 40  # distinct answers in a vote; later ones are compared by text only


def equivalence_classes(answers: Sequence[str | None], grader: Grader) -> list[int | None]:
    """The index of the first equal answer for each answer; None for None, which equals nothing.

    In a vote, `1/2`, `0.5` and `\\frac{1}{2}` count as three votes for one answer. Answers are equal as numbers by
    value, as texts, or by the algebra of the `grader`.
    """
    first: dict[object, int] = {}
    classes: list[int | None] = []
    for place, answer in enumerate(answers):
        if answer is None:
            classes.append(None)
            continue
        key = normalised(answer)
        if key not in first:
            known = list(dict.fromkeys(first.values()))[:MOST_COMPARED]
            equal = (one for one in known if grader.grade(answer, answers[one] or "") is True)
            first[key] = next(equal, place)
        classes.append(first[key])
    return classes
