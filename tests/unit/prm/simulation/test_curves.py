"""Curves compared: areas and crossings computed by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.simulation.report import mean_height, needed, rising, saving

HALF = np.array([0.5, 1.0])


def test_a_fall_is_shared_out_among_its_neighbours():
    assert rising(np.array([0.1, 0.4, 0.2, 0.5])).tolist() == pytest.approx([0.1, 0.3, 0.3, 0.5])
    assert rising(np.array([3.0, 2.0, 1.0])).tolist() == [2.0, 2.0, 2.0]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_a_risen_curve_never_falls_and_keeps_its_mean(values):
    risen = rising(np.array(values))
    assert (np.diff(risen) >= -1e-12).all()
    assert risen.mean() == pytest.approx(np.mean(values))


def test_mean_height_is_the_area_by_the_width():
    x, y = np.array([0.0, 10.0, 20.0]), np.array([0.0, 1.0, 1.0])
    assert mean_height(x, y, 0.0, 20.0) == pytest.approx(0.75)
    assert mean_height(x, y, 5.0, 15.0) == pytest.approx((0.75 * 5 + 1.0 * 5) / 10)


def test_what_is_needed_lies_straight_between_points_in_the_logarithm():
    x, y = np.array([100.0, 400.0]), np.array([0.2, 0.6])
    assert needed(x, y, 0.4) == pytest.approx(200.0)
    assert needed(x, y, 0.6) == pytest.approx(400.0)
    assert needed(x, y, 0.1) == 100.0
    assert needed(x, y, 0.61) == np.inf


def test_half_the_labels_for_the_same_quality_is_a_saving_of_two():
    base = np.array([100.0, 200.0, 400.0]), np.array([0.2, 0.4, 0.6])
    other = np.array([50.0, 100.0, 200.0]), np.array([0.2, 0.4, 0.6])
    ratios, never = saving(base, other, HALF)
    assert ratios.tolist() == pytest.approx([2.0, 2.0])
    assert not never.any()
    assert saving(base, base, HALF)[0].tolist() == pytest.approx([1.0, 1.0])


def test_quality_that_is_never_reached_is_told_and_its_ratio_the_most_it_can_be():
    base = np.array([100.0, 400.0]), np.array([0.2, 0.6])
    ratios, never = saving(base, (np.array([100.0, 400.0]), np.array([0.2, 0.5])), HALF)
    assert never.tolist() == [False, True]
    assert ratios[1] == pytest.approx(1.0)
    assert ratios[0] < 1
