"""Reports against answers worked out by hand and against the benchmark's own rule written out plainly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.calibration import mean_probability, without_temperature
from prm.cards import report_table
from prm.errors import DataError
from prm.evaluation import evaluate
from prm.evaluation.metrics import as_metric
from prm.scores import TraceScore
from prm.threshold import Threshold
from prm.traces import Step, StepLabel, Trace
from tests.unit.prm.evaluation.hand_made import HAND_MADE, score, trace


def test_processbench_f1_by_hand() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    report = evaluate(traces, scores, threshold=Threshold(0.5), bootstrap=50)
    assert report.overall.error_accuracy.value == 1 / 4
    assert report.overall.correct_accuracy.value == 1 / 2
    assert report.overall.processbench_f1.value == pytest.approx(2 * 0.25 * 0.5 / 0.75)
    assert report.overall.first_error_accuracy.value == pytest.approx(2 / 6)
    assert (report.overall.n_unscored_steps, report.overall.n_missed) == (1, 1)
    assert report.overall.n_steps == 2 + 2 + 1 + 1 + 2 + 2
    assert "| all | 6 |" in report_table(report)


def test_without_solutions_there_is_nothing_to_tell() -> None:
    report = evaluate([], [], threshold=Threshold(0.5), bootstrap=10)
    assert (report.overall.n_solutions, report.overall.processbench_f1.value, report.by_domain) == (0, None, {})
    assert report_table(report)


judged = st.lists(
    st.tuples(
        st.sampled_from(["gsm8k", "math"]),
        st.lists(st.sampled_from([0.1, 0.4, 0.5, 0.6, 0.9]), min_size=1, max_size=4),
        st.integers(-1, 3),
    ),
    min_size=1,
    max_size=25,
)


@given(judged)
def test_processbench_f1_is_the_official_rule(rows) -> None:
    """match = prediction == label; acc1 over label != -1, acc2 over label == -1; F1 each, averaged over subsets."""
    rows = [(subset, p, min(label, len(p) - 1)) for subset, p, label in rows]
    traces = [trace(str(i), len(p), label, subset) for i, (subset, p, label) in enumerate(rows)]
    report = evaluate(
        traces, [score(str(i), *p) for i, (_, p, _) in enumerate(rows)], threshold=Threshold(0.5), bootstrap=0
    )
    f1_scores = []
    for subset in ("gsm8k", "math"):
        matches = {True: [], False: []}
        for name, p, label in rows:
            if name == subset:
                prediction = next((k for k, value in enumerate(p) if value < 0.5), -1)
                matches[label == -1].append(prediction == label)
        if matches[True] and matches[False]:
            acc1, acc2 = np.mean(matches[False]), np.mean(matches[True])
            f1_scores.append(2 * acc1 * acc2 / (acc1 + acc2) if acc1 + acc2 else 0.0)
            assert report.by_domain[subset].processbench_f1.value == pytest.approx(f1_scores[-1])
    expected = np.mean(f1_scores) if f1_scores else None
    assert report.overall.processbench_f1.value == (None if expected is None else pytest.approx(expected))


def test_f1_is_averaged_over_domains_that_have_both_kinds() -> None:
    traces = [trace("a", 1, 0, "x"), trace("b", 1, -1, "x"), trace("c", 1, 0, "y"), trace("e", 1, -1, "y")]
    traces.append(trace("f", 1, -1, "z"))
    scores = [score("a", 0.1), score("b", 0.9), score("c", 0.9), score("e", 0.9), score("f", 0.1)]
    report = evaluate(traces, scores, threshold=Threshold(0.5), bootstrap=10)
    assert report.overall.processbench_f1.value == 0.5
    assert report.by_domain["x"].processbench_f1.value == 1
    assert report.by_domain["y"].processbench_f1.value == 0
    assert report.by_domain["z"].processbench_f1.value is None


def test_labels_settle_the_first_error_only_without_gaps() -> None:
    good, bad = StepLabel(0.9, 0.1, 0), StepLabel(0.2, 0.2, 0.6)
    known = Trace("k", "p", [Step("s")] * 3, labels=[good, bad, None])
    gap = Trace("g", "q", [Step("s")] * 3, labels=[None, bad, None])
    scores = [score("k", 0.9, 0.1, 0.9), score("g", 0.9, 0.1, 0.9)]
    report = evaluate([known, gap], scores, threshold=Threshold(0.5), bootstrap=5)
    assert report.overall.n_erroneous == 1
    assert report.overall.n_steps == 3


def test_slices_part_solutions_by_generator_and_length_and_steps_by_position() -> None:
    traces = [trace("short", 1, 0), trace("long", 6, 5), trace("clean", 6, -1)]
    traces = [
        Trace(t.id, t.problem, t.steps, generator=who, first_error=t.first_error)
        for t, who in zip(traces, "xyy", strict=True)
    ]
    scores = [score(t.id, *[0.9] * (len(t.steps) - 1), 0.1) for t in traces]
    report = evaluate(traces, scores, threshold=Threshold(0.5), bootstrap=5)
    assert {name: part.n_solutions for name, part in report.by_generator.items()} == {"x": 1, "y": 2}
    assert {name: part.n_solutions for name, part in report.by_length.items()} == {"1-4": 1, "5-8": 2}
    assert {name: (part.n_steps, part.n_errors) for name, part in report.by_position.items()} == {
        "1": (3, 1),
        "2-4": (6, 0),
        "5-8": (4, 1),
    }
    assert report.by_position["2-4"].step_auroc.value is None


def test_baselines_rank_by_position_and_by_length_alone() -> None:
    texts = [["aa", "a", "aaaa"], ["a", "aaa"]]
    traces = [
        Trace(str(i), str(i), [Step(s) for s in steps], first_error=len(steps) - 1) for i, steps in enumerate(texts)
    ]
    report = evaluate(traces, [score("0", 0.5, 0.5, 0.5), score("1", 0.5, 0.5)], threshold=Threshold(0.5), bootstrap=0)
    assert report.overall.step_auroc.value == 0.5
    assert report.overall.length_auroc.value == 1.0
    assert report.overall.index_auroc.value == pytest.approx(5.5 / 6)


def test_calibration_before_temperature_is_measured_from_the_heads() -> None:
    logits = np.array([[2.0, -1.0], [3.0, 0.5]])  # [heads, steps]
    heads = (1 / (1 + np.exp(-logits / 2))).T.tolist()
    scores = [TraceScore("a", heads, [float(np.mean(h)) for h in heads], [None, None], None)]
    report = evaluate([trace("a", 2, 1)], scores, threshold=Threshold(0.5), temperature=2.0, bootstrap=3)
    raw = mean_probability(logits, 1.0)
    assert report.overall.raw_brier.value == pytest.approx(((1 - raw[0]) ** 2 + raw[1] ** 2) / 2)
    assert report.overall.raw_brier.value != pytest.approx(report.overall.brier.value)
    assert sum(part.n_steps for part in report.raw_reliability) == 2
    assert evaluate([trace("a", 2, 1)], scores, threshold=Threshold(0.5), bootstrap=3).overall.raw_brier is None


@given(st.lists(st.floats(-25, 25), min_size=1, max_size=4), st.floats(0.2, 5))
def test_a_temperature_can_be_taken_back(tempered, temperature) -> None:
    logits = np.array(tempered)
    heads = (1 / (1 + np.exp(-logits))).tolist()
    expected = float(np.mean(1 / (1 + np.exp(-logits * temperature))))
    assert without_temperature(heads, temperature) == pytest.approx(expected, abs=1e-3)


def test_reliability_bins_hold_every_step_once() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    report = evaluate(traces, scores, threshold=Threshold(0.5), bootstrap=0)
    assert sum(part.n_steps for part in report.reliability) == report.overall.n_steps
    top = report.reliability[9]
    assert (top.n_steps, top.mean_p, top.good) == (3, pytest.approx(0.9), 1.0)
    assert report.reliability[7].mean_p is None


def test_a_trace_without_its_score_is_an_error() -> None:
    with pytest.raises(DataError, match="'a' has no score"):
        evaluate([trace("a", 2, 0)], [score("a", 0.5)], threshold=Threshold(0.5))


def test_intervals_leave_out_the_resamples_that_tell_nothing() -> None:
    found = as_metric(np.array([0.5, 0.2, np.nan, 0.4]))
    assert (found.value, found.low, found.high) == (0.5, pytest.approx(0.205), pytest.approx(0.395))
    assert as_metric(np.array([np.nan, 0.1])).value is None
    assert as_metric(np.array([0.5])) == as_metric(np.array([0.5, np.nan]))


def test_an_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    """Solutions of one problem share their fate, so that only resampling of problems is wide enough."""
    rng, covered = np.random.default_rng(0), 0
    for _ in range(60):
        fates = rng.random(40) < 0.7
        traces = [trace(f"{p}-{k}", 1, -1, problem=str(p)) for p in range(40) for k in range(5)]
        scores = [score(t.id, 0.9 if fates[int(t.problem)] else 0.1) for t in traces]
        metric = evaluate(traces, scores, threshold=Threshold(0.5), bootstrap=200, seed=1).overall.correct_accuracy
        covered += metric.low <= 0.7 <= metric.high
    assert covered >= 50
