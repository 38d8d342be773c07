"""The results of a search over a file of problems while it runs: solved, failed and remaining problems."""

from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import BinaryIO

import msgspec

from prm.errors import DataError, PolicyError, PRMError
from prm.files import read_records, write_atomic, write_records
from prm.messages import Message, joined
from prm.search.choosing import SearchResult

FAILURES_IN_A_ROW = 10  # problems; then the policy counts as unavailable


class Problem(msgspec.Struct):
    """A line of the file of problems; other fields, as in traces, are ignored."""

    problem: str
    problem_id: str = ""
    id: str = ""
    reference_answer: str | None = None


class Solved(msgspec.Struct):
    """A line of the output; `correct` is None if the problem has no reference or the answer cannot be graded.
    `settings` is a hash of all options that affect the result."""

    problem_id: str
    problem: str
    result: SearchResult
    correct: bool | None
    settings: str


class Failed(msgspec.Struct):
    """A line of the file of failures."""

    problem_id: str
    problem: str
    error: str


def name_of(number: int, problem: Problem) -> str:
    """The problem's id, else its number in the file, from 1."""
    return problem.problem_id or problem.id or str(number + 1)


class Ledger:
    """Writes each solved problem to a line of `out`, and failed problems to a file beside it.

    Problems that are already in `out` are skipped. Raises DataError if `out` has other content.
    """

    def __init__(self, out: Path, problems: Sequence[Problem], settings: str) -> None:
        self._out, self._failed_out = out, out.with_suffix(".failed.jsonl")
        self._problems = {problem.problem: number for number, problem in enumerate(problems)}
        self._all = problems
        self._by_problem = {one.problem: one for one in self._read(settings)}
        self._failed: list[Failed] = []
        self._in_a_row = 0

    @property
    def solved(self) -> list[Solved]:
        """The solved problems, in the order of the file."""
        return sorted(self._by_problem.values(), key=lambda one: self._problems[one.problem])

    def fill(
        self,
        solve: Callable[[int, Problem], Solved],
        concurrency: int,
        on_progress: Callable[[str], None] = lambda line: None,
    ) -> None:
        """Solve the remaining problems, several at a time."""
        self._out.parent.mkdir(parents=True, exist_ok=True)
        left = [(number, one) for number, one in enumerate(self._all) if one.problem not in self._by_problem]
        with open(self._out, "ab") as lines, ThreadPoolExecutor(concurrency) as pool:
            waiting = {pool.submit(solve, *numbered): numbered for numbered in left}
            try:
                for future in as_completed(waiting):
                    self._note(future, *waiting[future], lines)
                    on_progress(f"{len(self._by_problem)} of {Message('n_problems', n=len(self._all))} solved")
                    if self._in_a_row == FAILURES_IN_A_ROW:
                        pool.shutdown(wait=False, cancel_futures=True)
                        break
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def close(self) -> None:
        """Sort the lines. Raises PolicyError if problems failed or were not attempted."""
        write_records(self._out, self.solved)
        if not self._failed:
            self._failed_out.unlink(missing_ok=True)
            return
        write_records(self._failed_out, self._failed)
        unasked = len(self._all) - len(self._by_problem) - len(self._failed)
        raise PolicyError(
            joined(
                [
                    Message(
                        "problems_failed",
                        n=len(self._failed),
                        id=self._failed[-1].problem_id,
                        error=self._failed[-1].error,
                    ),
                    *([Message("problems_not_asked", n=unasked)] if unasked else []),
                    Message("search_rerun", path=self._failed_out),
                ]
            )
        )

    def _note(self, future: Future[Solved], number: int, problem: Problem, lines: BinaryIO) -> None:
        try:
            one = future.result()
        except PRMError as error:
            self._failed.append(Failed(name_of(number, problem), problem.problem, error.args[0]))
            self._in_a_row += 1
            return
        self._in_a_row = 0
        self._by_problem[one.problem] = one
        lines.write(msgspec.json.encode(one) + b"\n")
        lines.flush()

    def _read(self, settings: str) -> list[Solved]:
        if not self._out.exists():
            return []
        whole = self._out.read_bytes()
        if not whole.endswith(b"\n"):  # an incomplete line of a killed run
            write_atomic(self._out, whole[: whole.rfind(b"\n") + 1])
        solved = list(read_records(self._out, Solved))
        if any(one.settings != settings or one.problem not in self._problems for one in solved):
            raise DataError(Message("results_of_other_settings", path=self._out))
        return solved
