"""Converts traces and scores to columns: one row per solution, and one per step that counts. numpy only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prm.calibration import without_temperature
from prm.errors import DataError
from prm.labels import first_error, problem_of, step_labels
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace

Numbers = NDArray[np.float64]
Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Solutions:
    """Solutions as columns: `problem` and `domain` are indices, `exact` is 1 if the predicted first error is the true
    one, and `settled` is True if the first error is known."""

    problem: Indices
    domain: Indices
    length: Indices
    erroneous: Numbers
    exact: Numbers
    unscored: Indices
    settled: NDArray[np.bool_]
    domains: list[str]
    generators: list[str]
    n_problems: int


@dataclass(frozen=True)
class Steps:
    """The rated and scored steps up to the first error; `raw` is p before temperature, `p` if that is unknown."""

    solution: Indices
    index: Indices
    chars: Indices
    p: Numbers
    raw: Numbers
    error: Numbers


def columns_of(
    traces: Sequence[Trace], scores: Iterable[TraceScore], threshold: Threshold, temperature: float | None = None
) -> tuple[Solutions, Steps]:
    """Columns with each solution's first error predicted by `threshold`. Raises DataError if scores are missing."""
    by_id = {score.id: score for score in scores}
    problems: dict[str, int] = {}
    domains = sorted({trace.domain for trace in traces})
    solutions: list[tuple[float, ...]] = []
    steps: list[tuple[float, ...]] = []
    for row, trace in enumerate(traces):
        score = by_id.get(trace.id)
        if score is None or len(score.mean) != len(trace.steps):
            raise DataError(Message("trace_steps_without_score", n=len(trace.steps), id=trace.id))
        error = first_error(trace)
        solutions.append(
            (
                problems.setdefault(problem_of(trace), len(problems)),
                domains.index(trace.domain),
                len(trace.steps),
                error is not None and error >= 0,
                error is not None and threshold.first_error(score.mean) == error,
                sum(p is None for p in score.mean),
                error is not None,
            )
        )
        steps += _step_rows(row, trace, score, temperature)
    table, step_table = (np.array(rows, dtype=float).reshape(-1, width) for rows, width in ((solutions, 7), (steps, 6)))
    problem, domain, length, _, _, unscored, settled = table.astype(np.int64).T
    erroneous, exact = table[:, 3:5].T
    generators = [trace.generator for trace in traces]
    return (
        Solutions(problem, domain, length, erroneous, exact, unscored, settled > 0, domains, generators, len(problems)),
        Steps(*step_table.astype(np.int64)[:, :3].T, *step_table[:, 3:].T),
    )


def _step_rows(row: int, trace: Trace, score: TraceScore, temperature: float | None) -> Iterable[tuple[float, ...]]:
    for index, label in enumerate(step_labels(trace)):
        p, heads = score.mean[index], score.heads[index]
        if label is None:
            continue
        if p is not None:
            raw = p if temperature is None or heads is None else without_temperature(heads, temperature)
            yield row, index, len(trace.steps[index].text), p, raw, label.rating == -1
        if label.rating == -1:
            return
