"""F1 of hits, by hand and as the library's own report has it."""

import numpy as np
import pytest

from prm.simulation.report import Yardstick, pack_hits, unpack_hits

TWO = Yardstick(
    problem=[0, 1, 2, 3, 4, 5], domain=[0, 0, 0, 0, 1, 1], erroneous=[True, True, False, False, True, False]
)


def test_f1_is_the_mean_over_domains_of_harmonic_means():
    hits = np.array([True, False, True, True, True, False])
    once = np.ones((1, 6))
    assert TWO.f1(hits, once)[0] == pytest.approx((2 * 0.5 * 1 / 1.5 + 0.0) / 2)
    assert TWO.f1(np.ones(6, dtype=bool), once)[0] == 1


def test_a_weighting_counts_solutions_as_often_as_it_says():
    hits = np.array([True, False, True, True, True, True])
    weights = np.array([[3.0, 1.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1.0, 1.0, 0.0, 0.0]])
    first, second = TWO.f1(hits, weights)
    assert first == pytest.approx((2 * 0.75 / 1.75 + 1) / 2)
    assert second == pytest.approx(2 * 0.5 / 1.5)


def test_hits_come_back_as_they_were():
    hits = np.array([True, False, False, True, True, False, True, False, True, True])
    assert unpack_hits(pack_hits(hits), len(hits)).tolist() == hits.tolist()
