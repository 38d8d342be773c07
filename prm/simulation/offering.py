"""A pool's solutions as columns for acquisition: what stays the same while they are labelled is gathered once."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from prm.acquisition import UNKNOWN, Pool
from prm.features import rows_of
from prm.labels import problem_of
from prm.simulation.learning import Model, Part


@dataclass(frozen=True)
class Offering:
    """`problem`, `domain` and `correct` [solutions] of a part; `chars` [rows] are the lengths of its steps' texts."""

    part: Part
    problem: NDArray[np.int64]
    domain: NDArray[np.int64]
    correct: NDArray[np.int8]
    chars: NDArray[np.int32]

    @classmethod
    def of(cls, part: Part) -> "Offering":
        """What acquisition asks of a part's traces."""
        answers = [trace.final_answer_correct for trace in part.traces]
        texts = [
            len(step.text)
            for trace, encoded in zip(part.traces, part.encoded, strict=True)
            for step in trace.steps[: len(encoded.spans)]
        ]
        return cls(
            part,
            problem=_codes([f"{trace.domain}\0{problem_of(trace)}" for trace in part.traces]),
            domain=_codes([trace.domain for trace in part.traces]),
            correct=np.array([UNKNOWN if one is None else one for one in answers], dtype=np.int8),
            chars=np.array(texts, dtype=np.int32),
        )

    def scored(self, places: Sequence[int], model: Model) -> Pool:
        """The solutions at `places`, in that order, with what a model says of them."""
        rows, steps = self.part.rows_at(places)
        return Pool(
            problem=_codes(self.problem[places]),
            domain=_codes(self.domain[places]),
            steps=steps,
            p=model.heads(rows),
            chars=self.chars[rows_of(list(places), self.part.offsets)],
            correct=self.correct[places],
            embedding=model.embeddings(rows, steps),
        )


def _codes(names: ArrayLike) -> NDArray[np.int64]:
    """Numbers from 0 on, none left out, in the order of the names."""
    return np.unique(np.asarray(names), return_inverse=True)[1].astype(np.int64)
