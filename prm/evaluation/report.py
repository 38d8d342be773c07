"""Evaluates how well step scores find errors, overall and by slice, each metric with an interval. numpy only.

ProcessBench F1 (Zheng et al. 2024, section 3): the prediction for a solution is its first step with p(good) below the
threshold, or none. The two accuracies are of exact positions over erroneous solutions and of "none" over correct ones.
F1 is their harmonic mean, averaged over domains (the benchmark's subsets). A solution with an unscored step is a miss.

Step metrics count rated steps up to the first error only, since later steps have no good prefix. Intervals resample
whole problems.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.errors import DataError
from prm.evaluation.columns import Solutions, Steps, columns_of
from prm.evaluation.metrics import (
    CALIBRATION_BINS,
    Array,
    Metric,
    as_metric,
    brier,
    divide,
    draws_of,
    expected_calibration_error,
    harmonic_mean,
    in_bins,
    ranking,
    resample,
)
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace

Chosen = NDArray[np.bool_]
Ranges = tuple[tuple[int, int | None], ...]
LENGTH_BINS: Ranges = ((1, 4), (5, 8), (9, 16), (17, 32), (33, 64), (65, None))
POSITION_BINS: Ranges = ((1, 1), (2, 4), (5, 8), (9, 16), (17, 32), (33, None))


class StepSlice(msgspec.Struct, frozen=True, kw_only=True):
    """The step metrics of some of the steps. AUROC and AUPRC are for the error class.

    `index_auroc` ranks steps by their position alone, `length_auroc` by their number of characters alone. `raw_ece` and
    `raw_brier` are of the scores before temperature, None if the temperature is unknown.
    """

    n_steps: int
    n_errors: int
    step_auroc: Metric
    step_auprc: Metric
    index_auroc: Metric
    length_auroc: Metric
    ece: Metric
    brier: Metric
    raw_ece: Metric | None = None
    raw_brier: Metric | None = None


class Slice(StepSlice, frozen=True, kw_only=True):
    """The metrics of some of the solutions. `first_error_accuracy` is the share of exact predictions among all of them;
    `n_missed` counts solutions with an unscored step."""

    n_solutions: int
    n_problems: int
    n_erroneous: int
    n_unscored_steps: int
    n_missed: int
    processbench_f1: Metric
    error_accuracy: Metric
    correct_accuracy: Metric
    first_error_accuracy: Metric


class ReliabilityBin(msgspec.Struct, frozen=True):
    """The number of steps with `low` <= p < `high`, their mean p, and their share of good steps."""

    low: float
    high: float
    n_steps: int
    mean_p: float | None
    good: float | None


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics overall and by slice. `overall` averages ProcessBench F1 over domains.

    `by_length` groups solutions by number of steps, and `by_position` steps by position (from 1). `raw_reliability` is
    empty without a temperature.
    """

    threshold: Threshold
    bootstrap: int
    overall: Slice
    by_domain: dict[str, Slice]
    by_length: dict[str, Slice]
    by_generator: dict[str, Slice]
    by_position: dict[str, StepSlice]
    reliability: list[ReliabilityBin]
    raw_reliability: list[ReliabilityBin]


def evaluate(
    traces: Sequence[Trace],
    scores: Iterable[TraceScore],
    *,
    threshold: Threshold,
    temperature: float | None = None,
    bootstrap: int = 1000,
    seed: int = 0,
) -> Report:
    """Measure scores against labels. Raises DataError if a trace has no scores for all its steps.

    `threshold` must have been fitted on other data. `temperature` is the one applied to the scores, for calibration
    without it. Solutions with an unknown first error count in the step metrics only.
    """
    solutions, steps = columns_of(traces, scores, threshold, temperature)
    draws = draws_of(solutions.n_problems, bootstrap, seed)
    cut = _Cut(solutions, steps, draws, with_raw=temperature is not None)
    generators = np.array(solutions.generators, dtype=object)
    return Report(
        threshold=threshold,
        bootstrap=bootstrap,
        overall=cut.of_solutions(np.ones(len(traces), dtype=bool)),
        by_domain={name: cut.of_solutions(solutions.domain == i) for i, name in enumerate(solutions.domains)},
        by_length={name: cut.of_solutions(inside) for name, inside in in_ranges(solutions.length, LENGTH_BINS)},
        by_generator={name: cut.of_solutions(generators == name) for name in sorted(set(solutions.generators))},
        by_position={name: cut.of_steps(inside) for name, inside in in_ranges(steps.index + 1, POSITION_BINS)},
        reliability=_reliability(steps.p, 1 - steps.error),
        raw_reliability=[] if temperature is None else _reliability(steps.raw, 1 - steps.error),
    )


class _Cut:
    """The same solutions, steps and draws, measured slice by slice."""

    def __init__(self, solutions: Solutions, steps: Steps, draws: Array, *, with_raw: bool) -> None:
        self.solutions, self.steps, self.draws, self.with_raw = solutions, steps, draws, with_raw

    def of_solutions(self, chosen: Chosen) -> Slice:
        solutions = self.solutions
        accuracies = processbench(solutions, self.draws, chosen)
        return Slice(
            n_solutions=int(chosen.sum()),
            n_problems=len(np.unique(solutions.problem[chosen])),
            n_erroneous=int(solutions.erroneous[chosen].sum()),
            n_unscored_steps=int(solutions.unscored[chosen].sum()),
            n_missed=int((solutions.unscored[chosen] > 0).sum()),
            processbench_f1=as_metric(accuracies["processbench_f1"]),
            error_accuracy=as_metric(accuracies["error_accuracy"]),
            correct_accuracy=as_metric(accuracies["correct_accuracy"]),
            first_error_accuracy=as_metric(accuracies["first_error_accuracy"]),
            **self._measured(chosen[self.steps.solution]),
        )

    def of_steps(self, picked: Chosen) -> StepSlice:
        return StepSlice(**self._measured(picked))

    def _measured(self, picked: Chosen) -> dict[str, Any]:
        steps, error = self.steps, self.steps.error[picked]
        p, raw, good = steps.p[picked], steps.raw[picked], 1 - error
        index, chars = steps.index[picked], steps.chars[picked]

        def measure(weights: Array) -> Mapping[str, Array]:
            auroc, auprc = ranking(1 - p, error, weights)
            measures = {
                "step_auroc": auroc,
                "step_auprc": auprc,
                "index_auroc": ranking(index, error, weights)[0],
                "length_auroc": ranking(chars, error, weights)[0],
                "ece": expected_calibration_error(p, good, weights),
                "brier": brier(p, good, weights),
            }
            if self.with_raw:
                measures["raw_ece"] = expected_calibration_error(raw, good, weights)
                measures["raw_brier"] = brier(raw, good, weights)
            return measures

        owner = self.solutions.problem[steps.solution[picked]]
        return {
            "n_steps": len(p),
            "n_errors": int(error.sum()),
            **resample(measure, self.draws, owner),
        }


def processbench(solutions: Solutions, draws: Array, chosen: Chosen | None = None) -> dict[str, Array]:
    """F1 averaged over domains with both kinds of solutions, and accuracies on erroneous, correct and all solutions;
    each [draws]."""
    counted = solutions.settled if chosen is None else solutions.settled & chosen
    rows = np.flatnonzero(counted)
    cell = solutions.domain[rows] * 2 + solutions.erroneous[rows].astype(np.int64)
    table = np.zeros((2, solutions.n_problems, 2 * len(solutions.domains)))
    np.add.at(table[0], (solutions.problem[rows], cell), 1)
    np.add.at(table[1], (solutions.problem[rows], cell), solutions.exact[rows])
    shape = (len(draws), len(solutions.domains), 2)
    total, hits = ((draws @ part).reshape(shape) for part in table)  # [draws, domains, correct or erroneous]
    accuracy = divide(hits, total)
    f1 = harmonic_mean(accuracy[..., 0], accuracy[..., 1])
    known = ~np.isnan(f1)
    by_kind = divide(hits.sum(axis=1), total.sum(axis=1))
    return {
        "processbench_f1": divide(np.where(known, f1, 0).sum(axis=1), known.sum(axis=1)),
        "error_accuracy": by_kind[:, 1],
        "correct_accuracy": by_kind[:, 0],
        "first_error_accuracy": divide(hits.sum(axis=(1, 2)), total.sum(axis=(1, 2))),
    }


def in_ranges(values: NDArray[np.int64], bins: Ranges) -> Iterable[tuple[str, Chosen]]:
    """The bins with at least one value, by name: "2-4", "33+"."""
    for low, high in bins:
        inside = (values >= low) & (values <= (high or np.inf))
        if inside.any():
            yield (f"{low}+" if high is None else f"{low}-{high}" if high > low else str(low)), inside


def _reliability(p: NDArray[np.float64], good: NDArray[np.float64]) -> list[ReliabilityBin]:
    members = in_bins(p)
    size = members.sum(axis=0)
    means = (divide(values @ members, size) for values in (p, good))
    return [
        ReliabilityBin(
            k / CALIBRATION_BINS,
            (k + 1) / CALIBRATION_BINS,
            int(n),
            *(None if np.isnan(value) else float(value) for value in (mean_p, share)),
        )
        for k, (n, mean_p, share) in enumerate(zip(size, *means, strict=True))
    ]


STORED_SAMPLES = 200  # of the resampled gains, enough for a chart


class Comparison(msgspec.Struct, frozen=True):
    """Challenger minus champion in ProcessBench F1 on the same solutions, resampled together. The standard `error`,
    `low` and `high` are None if no resample has both kinds of solutions."""

    gain: float
    error: float | None
    low: float | None
    high: float | None
    challenger: float
    champion: float
    n_solutions: int
    n_problems: int
    samples: list[float]


def compare(
    traces: Sequence[Trace],
    challenger_scores: Iterable[TraceScore],
    champion_scores: Iterable[TraceScore],
    *,
    thresholds: tuple[Threshold, Threshold],
    bootstrap: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Paired comparison in ProcessBench F1; `thresholds` are the challenger's and the champion's.

    Raises DataError unless a domain has both erroneous and correct solutions with a known first error.
    """
    challenger, _ = columns_of(traces, challenger_scores, thresholds[0])
    champion, _ = columns_of(traces, champion_scores, thresholds[1])
    draws = draws_of(challenger.n_problems, bootstrap, seed)
    ours, theirs = (processbench(one, draws)["processbench_f1"] for one in (challenger, champion))
    if np.isnan(ours[0]):
        raise DataError(Message("comparison_needs_both_kinds"))
    gains = ours - theirs
    gain = as_metric(gains)
    drawn = gains[1:][~np.isnan(gains[1:])]
    return Comparison(
        gain=float(gains[0]),
        error=float(drawn.std()) if len(drawn) else None,
        low=gain.low,
        high=gain.high,
        challenger=float(ours[0]),
        champion=float(theirs[0]),
        n_solutions=int(challenger.settled.sum()),
        n_problems=challenger.n_problems,
        samples=[round(float(one), 6) for one in drawn[:STORED_SAMPLES]],
    )
