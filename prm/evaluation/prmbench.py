"""PRMScore by the categories of PRMBench (Song et al. 2025, section 3.4 and its evaluation code). numpy only.

A step is judged right if p > threshold. F1 is of right steps and negative F1 of wrong ones, each over all steps of the
category; PRMScore is their mean. Multi-solution consistency has right steps only and uses F1 alone. A dimension is the
mean of its categories; overall pools the steps of all categories. Unmodified solutions ("correct") are shown but do not
count otherwise. Steps after an error count too; unscored steps do not.

One thing differs: F1 is 2 TP / (2 TP + FP + FN), which is 0 without true positives. The benchmark's code returns -1 if
there are false positives then, and shows a negative PRMScore as 0.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec
import numpy as np

from prm.errors import DataError
from prm.evaluation.metrics import Array, Metric, as_metric, divide, draws_of
from prm.formats.prmbench import CORRECT
from prm.labels import problem_of, step_labels
from prm.messages import Message
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Trace

DIMENSIONS = {  # the benchmark's field names, with the abbreviations of its tables
    "simplicity": {"redundency": "NR", "circular": "NCL"},
    "soundness": {
        "counterfactual": "ES",
        "step_contradiction": "SC",
        "domain_inconsistency": "DC",
        "confidence": "CI",
    },
    "sensitivity": {"missing_condition": "PS", "deception": "DR", "multi_solutions": "MS"},
}
ALL_RIGHT = "multi_solutions"
TP, FP, TN, FN, FIRST, FIRST_FOUND = range(6)  # positive is right; FIRST counts solutions with an error


class Category(msgspec.Struct, frozen=True):
    """The steps of one category, or of all. `first_error_accuracy` is the share of first wrong steps judged wrong."""

    n_solutions: int
    n_steps: int
    n_errors: int
    n_unscored_steps: int
    prm_score: Metric
    f1: Metric
    negative_f1: Metric
    right_step_accuracy: Metric
    wrong_step_accuracy: Metric
    first_error_accuracy: Metric


class PRMBenchReport(msgspec.Struct, frozen=True):
    """`dimensions` are None if one of their categories is missing; `overall` covers the categories in the data."""

    threshold: Threshold
    bootstrap: int
    overall: Category
    dimensions: dict[str, Metric]
    categories: dict[str, Category]


def prm_score(
    traces: Sequence[Trace], scores: Iterable[TraceScore], *, threshold: Threshold, bootstrap: int = 1000, seed: int = 0
) -> PRMBenchReport:
    """Judge every step at `threshold`, which must come from elsewhere; a trace's domain is its category.

    Raises DataError for a trace without scores for all its steps, or of an unknown category.
    """
    by_id = {score.id: score for score in scores}
    names = [*(name for part in DIMENSIONS.values() for name in part), CORRECT]
    problems: dict[str, int] = {}
    for trace in traces:
        problems.setdefault(problem_of(trace), len(problems))
        if trace.domain not in names:
            raise DataError(Message("not_a_prmbench_category", id=trace.id, domain=trace.domain))
    table = np.zeros((len(problems), len(names), 6))
    solutions, unscored = np.zeros(len(names), dtype=int), np.zeros(len(names), dtype=int)
    for trace in traces:
        score, column = by_id.get(trace.id), names.index(trace.domain)
        if score is None or len(score.mean) != len(trace.steps):
            raise DataError(Message("trace_steps_without_score", n=len(trace.steps), id=trace.id))
        table[problems[problem_of(trace)], column] += _counts(trace, score, threshold)
        solutions[column] += 1
        unscored[column] += score.mean.count(None)
    draws = draws_of(len(problems), bootstrap, seed)
    samples = np.einsum("dp,pck->dck", draws, table)
    by_name = {name: _measures(samples[:, i], name) for i, name in enumerate(names)}
    present = [i for i, name in enumerate(names) if solutions[i] and name != CORRECT]
    dimensions = {
        name: np.mean([by_name[category]["prm_score"] for category in part], axis=0)
        for name, part in DIMENSIONS.items()
    }

    def category(columns: list[int], measures: Mapping[str, Array]) -> Category:
        counts = table[:, columns].sum(axis=(0, 1))
        return Category(
            n_solutions=int(solutions[columns].sum()),
            n_steps=int(counts[TP : FN + 1].sum()),
            n_errors=int(counts[FP] + counts[TN]),
            n_unscored_steps=int(unscored[columns].sum()),
            **{name: as_metric(values) for name, values in measures.items()},
        )

    return PRMBenchReport(
        threshold=threshold,
        bootstrap=bootstrap,
        overall=category(present, _measures(samples[:, present].sum(axis=1), "")),
        dimensions={name: as_metric(values) for name, values in dimensions.items()},
        categories={name: category([i], by_name[name]) for i, name in enumerate(names) if solutions[i]},
    )


def _counts(trace: Trace, score: TraceScore, threshold: Threshold) -> Array:
    counts, bar = np.zeros(6), threshold.at(len(trace.steps))
    for position, (label, p) in enumerate(zip(step_labels(trace), score.mean, strict=True)):
        if p is None or label is None:
            continue
        wrong, judged_right = label.rating == -1, p > bar
        counts[(FP if judged_right else TN) if wrong else (TP if judged_right else FN)] += 1
        if position == trace.first_error:
            counts[FIRST] += 1
            counts[FIRST_FOUND] += not judged_right
    return counts


def _measures(samples: Array, category: str) -> dict[str, Array]:
    """`samples` [draws, 6] of counts to metrics [draws]."""
    tp, fp, tn, fn, first, first_found = samples.T
    f1, negative_f1 = divide(2 * tp, 2 * tp + fp + fn), divide(2 * tn, 2 * tn + fn + fp)
    return {
        "prm_score": f1 if category == ALL_RIGHT else (f1 + negative_f1) / 2,
        "f1": f1,
        "negative_f1": negative_f1,
        "right_step_accuracy": divide(tp, tp + fn),
        "wrong_step_accuracy": divide(tn, tn + fp),
        "first_error_accuracy": divide(first_found, first),
    }
