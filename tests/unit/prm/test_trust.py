"""Verdicts, their uncertainty, and the two bars."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.trust import error_bound, fit_abstention, fit_domain, shrunk_covariance, verdict

heads = st.lists(st.lists(st.floats(0, 1), min_size=3, max_size=3), min_size=1, max_size=6)


def test_a_verdict_by_hand():
    """Two heads: q(1) = (0.9 * 0.8 + 0.7 * 0.6) / 2 = 0.57, so the verdict is wrong with 0.43."""
    assert verdict([[0.9, 0.7], [0.2, 0.4]], [0.8, 0.3], 0.5) == (1, pytest.approx(0.43))
    assert verdict([[0.9, 0.7], [0.2, 0.4]], [0.8, 0.3], 0.1) == (-1, pytest.approx(1 - (0.18 + 0.28) / 2))


def test_no_verdict_is_guessed_past_a_step_without_a_score():
    assert verdict([[0.9], None], [0.9, None], 0.5) == (None, None)
    assert verdict([[0.1], None], [0.1, None], 0.5) == (0, pytest.approx(0.1))


@given(heads, st.floats(0.05, 0.95))
def test_the_probabilities_of_all_verdicts_sum_to_one(p, threshold):
    """Each position and "none" as the verdict of some scores: their q sum to 1 over what can be the case."""
    mean = [sum(each) / len(each) for each in p]
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


def test_a_target_out_of_reach_withholds_every_verdict():
    rng = np.random.default_rng(0)
    bar = fit_abstention(rng.uniform(size=200), (rng.uniform(size=200) > 0.5).tolist(), target=0.9)
    assert bar is not None
    assert (bar.bar, bar.coverage, bar.accuracy) == (None, 0.0, None)
    assert bar.withholds(0.0)


def test_too_few_solutions_give_no_bar():
    assert fit_abstention([0.1] * 10, [True] * 10, target=0.8) is None
    assert fit_domain(np.zeros((5, 3)), np.zeros((5, 3))) is None


def test_the_domain_bar_keeps_its_quantile_and_tells_what_lies_elsewhere():
    rng = np.random.default_rng(0)
    mix = rng.normal(size=(8, 8))
    bar = fit_domain(rng.normal(size=(500, 8)) @ mix, rng.normal(size=(1000, 8)) @ mix)
    assert bar is not None
    usual = np.mean([bar.distance(one) > bar.bar for one in rng.normal(size=(1000, 8)) @ mix])
    assert usual == pytest.approx(0.01, abs=0.012)
    assert bar.distance(20 * mix[0]) > bar.bar


def test_shrinkage_goes_to_a_sphere_where_rows_are_few_and_to_the_sample_where_they_are_many():
    rng = np.random.default_rng(0)
    few = shrunk_covariance(rng.normal(size=(6, 40)))
    assert np.linalg.cond(few) < 3
    scales = np.array([1.0, 10.0])
    many = shrunk_covariance(rng.normal(size=(20_000, 2)) * scales)
    assert np.diag(many) == pytest.approx(scales**2, rel=0.05)
    assert math.isclose(many[0, 1], 0, abs_tol=0.5)
