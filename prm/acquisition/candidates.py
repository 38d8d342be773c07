"""Candidates, selected solutions, and candidates as columns of numbers for large pools."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.errors import PRMError
from prm.messages import Message

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
CELLS = 1 << 20  # probabilities processed at once, 8 MB
UNKNOWN = -1  # an outcome that is neither right (1) nor wrong (0)


class Candidate(msgspec.Struct):
    """A solution that may be labelled. `heads[k]` are the heads' p for step k (scored steps only).

    `step_chars` are the lengths of those steps' texts; `final_answer_correct` is None if it is not graded.
    """

    id: str
    problem_id: str
    domain: str
    heads: list[list[float]]
    step_chars: list[int]
    final_answer_correct: bool | None = None
    embedding: list[float] | None = None


class Selected(msgspec.Struct):
    """One drawn candidate: inclusion probability, gain (in the function's unit) and expected cost (seconds)."""

    id: str
    inclusion_probability: float
    gain: float
    expected_cost: float


@dataclass(frozen=True)
class Stack:
    """Solutions with the same number of scored steps, as arrays.

    `index` [n] are their indices in the pool, `p` [n, steps, heads] the heads' probabilities that each step is good
    given a good prefix, `chars` [n, steps], and `correct` [n] the outcomes: 1 right, 0 wrong, UNKNOWN.
    """

    index: Numbers
    p: Array
    chars: Array
    correct: NDArray[np.int8]


@dataclass(frozen=True)
class Pool:
    """Candidates as columns: a million solutions with ten steps and eight heads are 160 MB as float16.

    `problem` and `domain` [n] are codes from 0; `steps` [n] counts scored steps; `p` [all steps, heads] and `chars`
    [all steps] are concatenated by solution; `correct` [n] is as in `Stack`; `embedding` [n, width] is NaN for a
    solution without one, or None if no solution has one.
    """

    problem: Numbers
    domain: Numbers
    steps: Numbers
    p: NDArray[Any]
    chars: NDArray[Any]
    correct: NDArray[np.int8]
    embedding: NDArray[Any] | None = None

    def __len__(self) -> int:
        return len(self.steps)

    @classmethod
    def of(cls, candidates: Sequence[Candidate]) -> "Pool":
        """Raises PRMError if candidates have different numbers of heads, or fewer texts than scored steps."""
        rows = [row for one in candidates for row in one.heads]
        widths = {len(row) for row in rows}
        if len(widths) > 1:
            raise PRMError(Message("head_counts_differ", widths=sorted(widths)))
        for one in candidates:
            if len(one.step_chars) < len(one.heads):
                raise PRMError(
                    Message(
                        "candidate_unevenly_scored",
                        id=one.id,
                        lengths=Message("n_step_lengths", n=len(one.step_chars)),
                        scored=Message("n_scored_steps", n=len(one.heads)),
                    )
                )
        return cls(
            problem=_codes([f"{one.domain}\0{one.problem_id}" for one in candidates]),
            domain=_codes([one.domain for one in candidates]),
            steps=np.array([len(one.heads) for one in candidates], dtype=np.int64),
            p=np.array(rows, dtype=float).reshape(len(rows), widths.pop() if widths else 1),
            chars=np.array([n for one in candidates for n in one.step_chars[: len(one.heads)]], dtype=np.int32),
            correct=np.array(
                [UNKNOWN if c.final_answer_correct is None else c.final_answer_correct for c in candidates],
                dtype=np.int8,
            ),
            embedding=_embeddings([one.embedding for one in candidates]),
        )

    def stacks(self) -> Iterator[Stack]:
        """The solutions with scored steps, grouped by length, a few megabytes at a time."""
        begins = np.concatenate([[0], np.cumsum(self.steps)[:-1]])
        by_length = np.argsort(self.steps, kind="stable")
        lengths, firsts = np.unique(self.steps[by_length], return_index=True)
        for length, members in zip(lengths, np.split(by_length, firsts[1:]), strict=True):
            if length == 0:
                continue
            portion = max(1, CELLS // (int(length) * self.p.shape[1]))
            for start in range(0, len(members), portion):
                index = members[start : start + portion]
                rows = begins[index][:, None] + np.arange(length)
                yield Stack(index, self.p[rows].astype(float), self.chars[rows].astype(float), self.correct[index])


def _codes(names: Sequence[str]) -> Numbers:
    return np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1].astype(np.int64)


def _embeddings(embeddings: Sequence[list[float] | None]) -> Array | None:
    width = next((len(one) for one in embeddings if one is not None), None)
    if width is None:
        return None
    return np.array([[np.nan] * width if one is None else one for one in embeddings], dtype=float)
