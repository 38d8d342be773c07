"""The subject of an audit: labelled solutions, a scorer, and the resamples that all audits share."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random

import numpy as np
from numpy.typing import NDArray

from prm.audits.finding import Finding
from prm.evaluation.columns import Solutions, Steps, columns_of
from prm.evaluation.metrics import Array, Metric, as_metric, divide, draws_of
from prm.messages import Message
from prm.registry import Registry
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace

ENOUGH = 10  # errors, right steps or solutions; with fewer there is no interval and no verdict
Scoring = Callable[[Sequence[Trace]], list[TraceScore]]
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Training:
    """Labelled traces for training, and `learn`, which returns the scoring of a newly trained model."""

    traces: Callable[[], Iterable[Trace]]
    learn: Callable[[Sequence[Trace]], Scoring]


@dataclass(frozen=True)
class Subject:
    """Labelled solutions with their scores, and `score` for edited ones.

    `score_long` scores steps beyond the context in windows, None if the scorer cannot. `threshold` is the first-error
    threshold, fitted elsewhere; `temperature` is the one applied to the scores, None if there is none. `say` is called
    with lines of progress.
    """

    traces: Sequence[Trace]
    scores: Sequence[TraceScore]
    score: Scoring
    threshold: Threshold
    score_long: Scoring | None = None
    temperature: float | None = None
    training: Training | None = None
    bootstrap: int = 500
    seed: int = 0
    say: Callable[[str], None] = lambda line: None

    @cached_property
    def columns(self) -> tuple[Solutions, Steps]:
        return columns_of(self.traces, self.scores, self.threshold, self.temperature)

    @property
    def solutions(self) -> Solutions:
        return self.columns[0]

    @property
    def steps(self) -> Steps:
        return self.columns[1]

    @property
    def owner(self) -> Rows:
        """The problem of every step that counts, [steps]."""
        return self.solutions.problem[self.steps.solution]

    @cached_property
    def draws(self) -> Array:
        """The count of each problem in each resample, [1 + bootstrap, problems]; the first row is all ones."""
        return draws_of(self.solutions.n_problems, self.bootstrap, self.seed)

    def mean(self, values: Sequence[float], rows: Sequence[int]) -> Metric:
        """The mean of values of the solutions in `rows`; without an interval if there are few."""
        if 0 < len(rows) < ENOUGH:
            return Metric(float(np.mean(values)), None, None)
        figures, problem = np.asarray(values, dtype=float), self.solutions.problem[np.asarray(rows, dtype=np.int64)]
        size = self.solutions.n_problems
        total, count = (np.bincount(problem, weights, size) for weights in (figures, np.ones(len(figures))))
        return as_metric(divide(self.draws @ total, self.draws @ count))


def accepted(score: TraceScore, threshold: Threshold) -> bool:
    """Whether every step was scored, none of them below the threshold."""
    return threshold.first_error(score.mean) == -1


def is_whole(score: TraceScore) -> bool:
    """Whether there are steps and every one of them was scored."""
    return bool(score.mean) and None not in score.mean


Audit = Callable[[Subject, Random], Finding]
AUDITS = Registry[Audit](
    "stepmark.audits",
    Message("kind_audit"),
    built_in=tuple(
        f"prm.audits.{name}" for name in ("outcome", "gaming", "transfer", "length", "long", "position", "calibration")
    ),
)
