"""Verdicts, their uncertainty, and the two bars."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.threshold import Threshold
from prm.trust import Trust, error_bound, fit_abstention, fit_domain, shrunk_covariance, verdict

heads = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6)


def test_a_verdict_by_hand():
    """Two heads: q(1) = (0.9 * 0.8 + 0.7 * 0.6) / 2 = 0.57, so the verdict is wrong with 0.43."""
    assert verdict([[0.9, 0.7], [0.2, 0.4]], [0.8, 0.3], Threshold(0.5)) == (1, pytest.approx(0.43))
    assert verdict([[0.9, 0.7], [0.2, 0.4]], [0.8, 0.3], Threshold(0.1)) == (-1, pytest.approx(1 - (0.18 + 0.28) / 2))


def test_no_verdict_is_guessed_past_a_step_without_a_score():
    assert verdict([[0.9], None], [0.9, None], Threshold(0.5)) == (None, None)
    assert verdict([[0.1], None], [0.1, None], Threshold(0.5)) == (0, pytest.approx(0.1))


@given(heads, st.floats(0.05, 0.95))
def test_the_probabilities_of_all_verdicts_sum_to_one(p, value):
    """Each position and "none" as the verdict of some scores: their q sum to 1 over what can be the case."""
    mean, threshold = [sum(each) / len(each) for each in p], Threshold(value)
    q = [1 - verdict(p[: k + 1], [1.0] * k + [-1.0], threshold)[1] for k in range(len(p))]
    q.append(1 - verdict(p, [1.0] * len(p), threshold)[1])
    assert sum(q) == pytest.approx(1)
    assert 0 <= verdict(p, mean, threshold)[1] <= 1


def test_the_bound_is_clopper_and_pearsons():
    assert error_bound(0, 30, 0.05) == pytest.approx(1 - 0.05 ** (1 / 30), abs=1e-6)
    assert error_bound(3, 20, 0.05) == pytest.approx(0.343664, abs=1e-4)  # the 95 % quantile of Beta(4, 17)


@pytest.mark.parametrize("seed", range(5))
def test_verdicts_below_the_bar_are_right_as_often_as_was_aimed_for(seed):
    rng = np.random.default_rng(seed)
    uncertainty = rng.uniform(size=4000)
    right = rng.uniform(size=4000) > uncertainty  # uncertainty u is wrong with probability u: below b, b / 2 are
    bar = fit_abstention(uncertainty[:2000], right[:2000].tolist(), target=0.8)
    assert bar is not None
    assert bar.bar == pytest.approx(0.4, abs=0.08)
    fresh = uncertainty[2000:] <= bar.bar
    assert right[2000:][fresh].mean() >= 0.78
    assert bar.coverage == pytest.approx(fresh.mean(), abs=0.04)


@pytest.mark.parametrize("n", [20, 31, 32, 33, 64, 100, 128])
def test_the_confidence_is_shared_out_among_all_bars_that_are_tested(n, monkeypatch):
    shares = []

    def record(errors, n, delta):
        shares.append(delta)
        return 0.0

    monkeypatch.setattr("prm.trust.error_bound", record)
    fit_abstention(np.arange(n) / n, [True] * n, target=0.8)
    assert sum(shares) <= 0.1 + 1e-12, "90 % confidence in all"


def test_a_target_out_of_reach_withholds_every_verdict():
    rng = np.random.default_rng(0)
    bar = fit_abstention(rng.uniform(size=200), (rng.uniform(size=200) > 0.5).tolist(), target=0.9)
    assert bar is not None
    assert (bar.bar, bar.coverage, bar.accuracy) == (None, 0.0, None)
    assert bar.withholds(0.0)


def test_too_few_solutions_give_no_bar():
    assert fit_abstention([0.1] * 10, [True] * 10, target=0.8) is None
    assert fit_domain([np.zeros((4, 3))] * 5, [np.zeros((4, 3))] * 5) is None


def marked(rng: np.random.Generator, count: int, *, shift: float = 0.0, surprisal: float = 1.0) -> list[np.ndarray]:
    """Solutions of 3 to 7 steps whose first step differs from the others; the last column is the surprisal."""
    found = []
    for _ in range(count):
        steps = rng.integers(3, 8)
        marks = np.hstack([rng.normal(size=(steps, 8)), rng.gamma(4, surprisal / 4, size=(steps, 1))])
        marks[0, 0] += 5
        marks[:, 1] += shift
        found.append(marks)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_domain_bar_keeps_its_false_alarms_at_every_length(seed):
    rng = np.random.default_rng(seed)
    bar = fit_domain(marked(rng, 500), marked(rng, 1000))
    assert bar is not None
    assert len(bar.centres) == len(bar.distance_bars) == len(bar.surprisal_bars) == 7
    fresh = marked(rng, 1000)
    for steps in (1, 2, 4, 7):
        share = np.mean([bar.distance(marks[:steps]) > 1 for marks in fresh])
        assert share == pytest.approx(bar.false_alarms, abs=0.03)


def test_the_domain_bar_sees_states_that_lie_elsewhere_and_text_that_is_hard_to_predict():
    rng = np.random.default_rng(0)
    bar = fit_domain(marked(rng, 500), marked(rng, 1000))
    assert bar is not None
    assert all(bar.distance(marks) > 1 for marks in marked(rng, 50, shift=10))
    assert all(bar.distance(marks) > 1 for marks in marked(rng, 50, surprisal=10))


def test_a_model_without_statistics_has_no_bar_for_surprisal():
    rng = np.random.default_rng(0)
    without = [[np.hstack([each[:, :-1], np.full((len(each), 1), np.nan)]) for each in marked(rng, 500)] for _ in "ab"]
    bar = fit_domain(*without)
    assert bar is not None
    assert bar.surprisal_bars is None
    assert bar.distance(without[1][0]) > 0


def test_verdicts_are_withheld_from_foreign_text_however_sure_the_model_is():
    trust = Trust(None, fit_abstention([0.1] * 200, [True] * 200, target=0.7))
    assert [trust.withholds(0.1, distance) for distance in (None, 0.9, 1.1)] == [False, False, True]
    assert [Trust().withholds(0.1, distance) for distance in (None, 0.9, 1.1)] == [None, None, True]


def test_shrinkage_goes_to_a_sphere_where_rows_are_few_and_to_the_sample_where_they_are_many():
    rng = np.random.default_rng(0)
    few = shrunk_covariance(rng.normal(size=(6, 40)))
    assert np.linalg.cond(few) < 3
    scales = np.array([1.0, 10.0])
    many = shrunk_covariance(rng.normal(size=(20_000, 2)) * scales)
    assert np.diag(many) == pytest.approx(scales**2, rel=0.05)
    assert math.isclose(many[0, 1], 0, abs_tol=0.5)
