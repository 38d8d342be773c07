"""How well step scores find errors: one report, and a paired comparison of two models. numpy only.

ProcessBench F1: the prediction for a solution is its first step with p(good) < threshold, or none;
the two accuracies are of exact positions over erroneous solutions and of "none" over correct ones;
F1 is their harmonic mean, averaged over domains. A solution with a step not scored is a miss.

Step metrics count the rated steps up to the first error only: what follows an error is no longer
conditional on a good prefix. Intervals resample whole problems.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.errors import DataError
from prm.evaluation.metrics import auroc, average_precision, brier, expected_calibration_error, harmonic_mean
from prm.labels import first_error, problem_of, step_labels
from prm.scores import TraceScore
from prm.traces import Trace

Array = NDArray[np.float64]
LENGTH_BINS = ((1, 4), (5, 8), (9, 16), (17, 32), (33, None))
KEPT_SAMPLES = 200  # of a comparison's resampled gains, enough for a picture


class Metric(msgspec.Struct, frozen=True):
    """A value with its 95 % interval; None where the data cannot give it."""

    value: float | None
    low: float | None
    high: float | None


class Slice(msgspec.Struct, frozen=True):
    """The metrics of some of the solutions. AUROC, AUPRC and the index baseline are for the error class.

    `index_auroc` ranks steps by their position alone. `first_error_accuracy` is exact over all solutions.
    """

    n_solutions: int
    n_problems: int
    n_erroneous: int
    n_steps: int
    n_unscored_steps: int
    n_missed: int
    processbench_f1: Metric
    error_accuracy: Metric
    correct_accuracy: Metric
    first_error_accuracy: Metric
    step_auroc: Metric
    step_auprc: Metric
    index_auroc: Metric
    ece: Metric
    brier: Metric


class Report(msgspec.Struct, frozen=True):
    """`overall` averages ProcessBench F1 over domains; each domain and length bin stands beside it."""

    threshold: float
    bootstrap: int
    overall: Slice
    by_domain: dict[str, Slice]
    by_length: dict[str, Slice]


class Comparison(msgspec.Struct, frozen=True):
    """Challenger minus champion in ProcessBench F1 on the same solutions, resampled together."""

    gain: float
    low: float
    high: float
    challenger: float
    champion: float
    n_solutions: int
    n_problems: int
    samples: list[float]


@dataclass(frozen=True)
class _Judged:
    """Solutions and steps as columns. `problem` indexes clusters; `exact` is 1 for a right prediction."""

    n_problems: int
    problem: NDArray[np.int64]
    domain: NDArray[np.int64]
    length: NDArray[np.int64]
    erroneous: Array
    exact: Array
    unscored: NDArray[np.int64]
    settled: NDArray[np.bool_]
    step_solution: NDArray[np.int64]
    step_p: Array
    step_error: Array
    step_index: Array
    domains: list[str]


def evaluate(
    traces: Sequence[Trace], scores: Iterable[TraceScore], *, threshold: float, bootstrap: int = 1000, seed: int = 0
) -> Report:
    """Measure scores against labels; raises DataError where a trace has no score of its length.

    `threshold` must have been fitted on other data. Solutions whose first error is unknown count in the
    step metrics only.
    """
    judged = _judge(traces, scores, threshold)
    draws = _draws(judged.n_problems, bootstrap, seed)
    everything = np.ones(len(judged.problem), dtype=bool)
    by_length = {}
    for low, high in LENGTH_BINS:
        inside = (judged.length >= low) & (judged.length <= (high or np.inf))
        if inside.any():
            by_length[f"{low}+" if high is None else f"{low}-{high}"] = _slice(judged, inside, draws)
    return Report(
        threshold=threshold,
        bootstrap=bootstrap,
        overall=_slice(judged, everything, draws),
        by_domain={name: _slice(judged, judged.domain == index, draws) for index, name in enumerate(judged.domains)},
        by_length=by_length,
    )


def compare(
    traces: Sequence[Trace],
    challenger_scores: Iterable[TraceScore],
    champion_scores: Iterable[TraceScore],
    *,
    thresholds: tuple[float, float],
    bootstrap: int = 2000,
    seed: int = 0,
) -> Comparison:
    """Paired comparison in ProcessBench F1; `thresholds` are the challenger's and the champion's.

    Raises DataError where no domain has both erroneous and correct solutions with a known first error.
    """
    challenger = _judge(traces, challenger_scores, thresholds[0])
    champion = _judge(traces, champion_scores, thresholds[1])
    once = np.ones(challenger.n_problems)
    points = _processbench(challenger, once)[0], _processbench(champion, once)[0]
    if np.isnan(points[0]):
        raise DataError("no domain has both erroneous and correct solutions, so two models cannot be compared")
    gains = np.array(
        [
            _processbench(challenger, draw)[0] - _processbench(champion, draw)[0]
            for draw in _draws(challenger.n_problems, bootstrap, seed)
        ]
    )
    gains = gains[~np.isnan(gains)]
    low, high = np.quantile(gains, [0.025, 0.975]) if len(gains) else (np.nan, np.nan)
    return Comparison(
        gain=points[0] - points[1],
        low=float(low),
        high=float(high),
        challenger=points[0],
        champion=points[1],
        n_solutions=int(challenger.settled.sum()),
        n_problems=challenger.n_problems,
        samples=[round(float(gain), 6) for gain in gains[:KEPT_SAMPLES]],
    )


def predicted_first_error(mean: Sequence[float | None], threshold: float) -> int | None:
    """Position of the first step below the threshold, -1 for none, None where a step was not scored."""
    if any(p is None for p in mean):
        return None
    return next((k for k, p in enumerate(mean) if p is not None and p < threshold), -1)


def _judge(traces: Sequence[Trace], scores: Iterable[TraceScore], threshold: float) -> _Judged:
    by_id = {score.id: score for score in scores}
    problems: dict[str, int] = {}
    domains = sorted({trace.domain for trace in traces})
    solutions: list[tuple[float, ...]] = []
    steps: list[tuple[float, ...]] = []
    for row, trace in enumerate(traces):
        score = by_id.get(trace.id)
        if score is None or len(score.mean) != len(trace.steps):
            raise DataError(f"trace {trace.id!r} has no score for each of its {len(trace.steps)} steps")
        error = first_error(trace)
        predicted = predicted_first_error(score.mean, threshold)
        problem = problems.setdefault(problem_of(trace), len(problems))
        solutions.append(
            (
                problem,
                domains.index(trace.domain),
                len(trace.steps),
                error is not None and error >= 0,
                predicted is not None and predicted == error,
                sum(p is None for p in score.mean),
                error is not None,
            )
        )
        for index, label in enumerate(step_labels(trace)):
            p = score.mean[index]
            if label is not None and p is not None:
                steps.append((row, p, label.rating == -1, index))
            if label is not None and label.rating == -1:
                break
    table = np.array(solutions, dtype=float).reshape(-1, 7)
    step_table = np.array(steps, dtype=float).reshape(-1, 4)
    whole = table.astype(np.int64)
    return _Judged(
        n_problems=len(problems),
        problem=whole[:, 0],
        domain=whole[:, 1],
        length=whole[:, 2],
        erroneous=table[:, 3],
        exact=table[:, 4],
        unscored=whole[:, 5],
        settled=table[:, 6] > 0,
        step_solution=step_table[:, 0].astype(np.int64),
        step_p=step_table[:, 1],
        step_error=step_table[:, 2],
        step_index=step_table[:, 3],
        domains=domains,
    )


def _draws(n_problems: int, bootstrap: int, seed: int) -> Array:
    """How often each problem is drawn in each resample, [bootstrap, problems]."""
    rng = np.random.default_rng(seed)
    return rng.multinomial(n_problems, np.full(n_problems, 1 / max(1, n_problems)), size=bootstrap).astype(float)


def _slice(judged: _Judged, chosen: NDArray[np.bool_], draws: Array) -> Slice:
    picked = chosen[judged.step_solution]
    p, error = judged.step_p[picked], judged.step_error[picked]
    index, owner = judged.step_index[picked], judged.problem[judged.step_solution[picked]]

    def interval(measure: Callable[[Array], float]) -> Metric:
        return _metric(measure(np.ones(draws.shape[1])), [measure(draw) for draw in draws])

    accuracies = [_processbench(judged, draw, chosen) for draw in draws]
    at_once = _processbench(judged, np.ones(draws.shape[1]), chosen)
    f1, at_errors, at_correct, overall = (
        _metric(value, [sample[i] for sample in accuracies]) for i, value in enumerate(at_once)
    )
    return Slice(
        n_solutions=int(chosen.sum()),
        n_problems=len(np.unique(judged.problem[chosen])),
        n_erroneous=int(judged.erroneous[chosen].sum()),
        n_steps=len(p),
        n_unscored_steps=int(judged.unscored[chosen].sum()),
        n_missed=int((judged.unscored[chosen] > 0).sum()),
        processbench_f1=f1,
        error_accuracy=at_errors,
        correct_accuracy=at_correct,
        first_error_accuracy=overall,
        step_auroc=interval(lambda draw: auroc(1 - p, error, draw[owner])),
        step_auprc=interval(lambda draw: average_precision(1 - p, error, draw[owner])),
        index_auroc=interval(lambda draw: auroc(index, error, draw[owner])),
        ece=interval(lambda draw: expected_calibration_error(p, 1 - error, draw[owner])),
        brier=interval(lambda draw: brier(p, 1 - error, draw[owner])),
    )


def _processbench(
    judged: _Judged, draw: Array, chosen: NDArray[np.bool_] | None = None
) -> tuple[float, float, float, float]:
    """F1 averaged over domains, and over all solutions the accuracy on erroneous, on correct, and on both."""
    known = judged.settled if chosen is None else judged.settled & chosen
    weight = draw[judged.problem] * known
    right = weight * judged.exact
    cells = judged.domain * 2 + judged.erroneous.astype(np.int64)
    size = 2 * len(judged.domains)
    total = np.bincount(cells, weight, size).reshape(-1, 2)
    hits = np.bincount(cells, right, size).reshape(-1, 2)
    both = (total > 0).all(axis=1)
    accuracy = hits[both] / total[both]
    f1 = [harmonic_mean(float(a), float(b)) for a, b in accuracy]
    correct, erroneous = (_ratio(hits[:, i].sum(), total[:, i].sum()) for i in (0, 1))
    return float(np.mean(f1)) if f1 else float("nan"), erroneous, correct, _ratio(hits.sum(), total.sum())


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole > 0 else float("nan")


def _metric(value: float, samples: Sequence[float]) -> Metric:
    if np.isnan(value):
        return Metric(None, None, None)
    known = np.array(samples)[~np.isnan(samples)] if samples else np.array([])
    if not len(known):
        return Metric(value, None, None)
    low, high = np.quantile(known, [0.025, 0.975])
    return Metric(value, float(low), float(high))
