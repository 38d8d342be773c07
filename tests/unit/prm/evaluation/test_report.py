"""ProcessBench F1 and step metrics against answers worked out by hand or by brute force."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.cards import report_table
from prm.errors import DataError
from prm.evaluation import compare, evaluate, predicted_first_error
from prm.evaluation.metrics import auroc, average_precision, brier, expected_calibration_error
from prm.scores import TraceScore
from prm.traces import Step, StepLabel, Trace


def trace(name: str, n_steps: int, first_error: int | None, domain: str = "d", problem: str = "") -> Trace:
    return Trace(name, problem or name, [Step("s")] * n_steps, domain=domain, first_error=first_error)


def score(name: str, *mean: float | None) -> TraceScore:
    return TraceScore(name, [None if p is None else [p] for p in mean], list(mean), [None] * len(mean), None)


HAND_MADE = [
    (trace("exact", 3, 1), score("exact", 0.9, 0.2, 0.9)),
    (trace("early", 3, 1), score("early", 0.3, 0.2, 0.9)),
    (trace("missed", 2, 0), score("missed", 0.6, 0.2)),
    (trace("unscored", 2, 0), score("unscored", 0.1, None)),
    (trace("clean", 2, -1), score("clean", 0.9, 0.5)),
    (trace("alarm", 2, -1), score("alarm", 0.9, 0.4)),
]


def test_processbench_f1_by_hand() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    report = evaluate(traces, scores, threshold=0.5, bootstrap=50)
    assert report.overall.error_accuracy.value == 1 / 4
    assert report.overall.correct_accuracy.value == 1 / 2
    assert report.overall.processbench_f1.value == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert report.overall.first_error_accuracy.value == pytest.approx(2 / 6)
    assert (report.overall.n_unscored_steps, report.overall.n_missed) == (1, 1)
    assert report.overall.n_steps == 2 + 2 + 1 + 1 + 2 + 2
    assert "| all | 6 |" in report_table(report)


def test_f1_is_averaged_over_domains_that_have_both_kinds() -> None:
    traces = [trace("a", 1, 0, "x"), trace("b", 1, -1, "x"), trace("c", 1, 0, "y"), trace("e", 1, -1, "y")]
    traces.append(trace("f", 1, -1, "z"))
    scores = [score("a", 0.1), score("b", 0.9), score("c", 0.9), score("e", 0.9), score("f", 0.1)]
    report = evaluate(traces, scores, threshold=0.5, bootstrap=10)
    assert report.overall.processbench_f1.value == 0.5
    assert report.by_domain["x"].processbench_f1.value == 1
    assert report.by_domain["y"].processbench_f1.value == 0
    assert report.by_domain["z"].processbench_f1.value is None


def test_labels_settle_the_first_error_only_without_gaps() -> None:
    good, bad = StepLabel(0.9, 0.1, 0), StepLabel(0.2, 0.2, 0.6)
    known = Trace("k", "p", [Step("s")] * 3, labels=[good, bad, None])
    gap = Trace("g", "q", [Step("s")] * 3, labels=[None, bad, None])
    scores = [score("k", 0.9, 0.1, 0.9), score("g", 0.9, 0.1, 0.9)]
    report = evaluate([known, gap], scores, threshold=0.5, bootstrap=5)
    assert report.overall.n_erroneous == 1
    assert report.overall.n_steps == 3


def test_a_trace_without_its_score_is_an_error() -> None:
    with pytest.raises(DataError, match="'a' has no score"):
        evaluate([trace("a", 2, 0)], [score("a", 0.5)], threshold=0.5)


def test_prediction_is_the_first_step_below_the_threshold() -> None:
    assert predicted_first_error([0.9, 0.4, 0.1], 0.5) == 1
    assert predicted_first_error([0.9, 0.5], 0.5) == -1
    assert predicted_first_error([0.1, None], 0.5) is None


def test_comparing_equal_scores_gains_nothing() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    same = compare(traces, scores, scores, thresholds=(0.5, 0.5), bootstrap=100)
    assert (same.gain, same.low, same.high) == (0, 0, 0)


def test_a_better_challenger_gains_and_its_interval_is_by_problem() -> None:
    traces = [trace(f"{i}", 1, 0 if i % 2 else -1, problem=f"p{i // 2}") for i in range(40)]
    right = [score(t.id, 0.1 if t.first_error == 0 else 0.9) for t in traces]
    wrong = [score(t.id, 0.9) for t in traces]
    result = compare(traces, right, wrong, thresholds=(0.5, 0.5), bootstrap=200)
    assert (result.gain, result.challenger, result.champion, result.n_problems) == (1, 1, 0, 20)
    assert result.low == result.high == 1
    with pytest.raises(DataError, match="no domain has both"):
        compare(traces[::2], right, wrong, thresholds=(0.5, 0.5))


scored = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=2, max_size=30)


@given(scored)
def test_weighted_auroc_equals_counting_pairs(rows) -> None:
    scores, positive, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    pairs = [
        (wi * wj, 1.0 if si > sj else 0.5 if si == sj else 0.0)
        for si, pi, wi in zip(scores, positive, weights, strict=True)
        for sj, pj, wj in zip(scores, positive, weights, strict=True)
        if pi and not pj
    ]
    total = sum(weight for weight, _ in pairs)
    found = auroc(scores, positive, weights)
    if total == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(sum(weight * win for weight, win in pairs) / total)


@given(scored)
def test_weights_count_as_repeats(rows) -> None:
    scores, positive, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeats = weights.astype(int)
    ones = np.ones(repeats.sum())
    args = np.repeat(scores, repeats), np.repeat(positive, repeats), ones
    assert average_precision(scores, positive, weights) == pytest.approx(average_precision(*args), nan_ok=True)


def test_calibration_metrics_by_hand() -> None:
    p, outcome, weights = np.array([0.95, 0.95, 0.15]), np.array([1.0, 0.0, 0.0]), np.ones(3)
    assert expected_calibration_error(p, outcome, weights) == pytest.approx((0.9 + 0.15) / 3)
    assert brier(p, outcome, weights) == pytest.approx((0.0025 + 0.9025 + 0.0225) / 3)
    assert average_precision(np.array([3.0, 2, 1]), np.array([1.0, 0, 1]), weights) == pytest.approx((1 + 2 / 3) / 2)
