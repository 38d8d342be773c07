"""Estimates from unequal draws, against exact enumeration of small designs and against textbook formulas."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.acquisition.estimating import hajek, total_variance
from prm.errors import DataError

POOL = np.array([1.0, 0.0, 3.0, 7.0, 2.0])
SAMPLES = list(combinations(range(5), 3))


def test_the_variance_of_simple_random_sampling_is_the_textbooks():
    drawn, size = POOL[[0, 2, 3]], 5
    expected = (1 - 3 / size) * size**2 * drawn.var(ddof=1) / 3
    assert total_variance(drawn, np.full(3, 3 / size)) == pytest.approx(expected)


def test_the_variance_of_simple_random_sampling_is_unbiased_over_all_samples():
    equal = np.full(3, 3 / 5)
    totals = np.array([(POOL[list(s)] / equal).sum() for s in SAMPLES])
    assert np.mean([total_variance(POOL[list(s)], equal) for s in SAMPLES]) == pytest.approx(totals.var())


def test_a_pool_drawn_whole_is_known_exactly():
    found = hajek(POOL, np.ones(5))
    assert (found.value, found.low, found.high, found.effective) == (pytest.approx(2.6), 2.6, 2.6, 5)


def test_weights_undo_what_the_choice_did():
    """Errors are three times as likely to be drawn: half of the sample, a quarter of the pool."""
    found = hajek([1, 1, 1, 0, 0, 0], [0.3, 0.3, 0.3, 0.1, 0.1, 0.1], share=True)
    assert found.naive == 0.5
    assert found.value == pytest.approx(0.25)
    assert found.low < 0.25 < found.high
    assert found.effective == pytest.approx(40**2 / (3 * (1 / 0.3) ** 2 + 3 * 100))


def test_the_intervals_cover_the_pools_rate_about_as_often_as_they_say():
    rng = np.random.default_rng(0)
    chance = rng.uniform(0.05, 0.4, 2000)
    errs = rng.random(2000) < chance * 2
    covered = []
    for _ in range(400):
        drawn = rng.random(2000) < chance
        found = hajek(errs[drawn], chance[drawn], share=True)
        covered.append(found.low <= errs.mean() <= found.high)
    assert np.mean(covered) > 0.92


def test_few_labels_that_agree_do_not_make_a_share_certain():
    """Two of two: Wilson's interval begins at .34, a little higher because a fifth of the pool was drawn."""
    found = hajek([1, 1], [0.2, 0.2], share=True)
    assert found.value == found.high == 1
    assert 0.34 < found.low < 0.42
    whole = hajek([1, 1], [1, 1], share=True)
    assert (whole.low, whole.high) == (1, 1), "nothing is uncertain about a pool that was drawn whole"


def test_the_interval_of_a_share_covers_it_with_few_labels_too():
    rng = np.random.default_rng(1)
    chance = rng.uniform(0.002, 0.02, 2000)
    errs = rng.random(2000) < 0.15
    covered = []
    for _ in range(400):
        drawn = rng.random(2000) < chance
        if drawn.sum() > 1:
            found = hajek(errs[drawn], chance[drawn], share=True)
            covered.append(found.low <= errs.mean() <= found.high)
    assert np.mean(covered) > 0.92


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.01, 1)), min_size=2, max_size=20))
def test_the_interval_of_a_share_contains_it_and_stays_in_its_range(drawn):
    found = hajek(*zip(*drawn, strict=True), share=True)
    assert 0 <= found.low <= found.value + 1e-9
    assert found.value - 1e-9 <= found.high <= 1


@given(st.lists(st.tuples(st.floats(-5, 5), st.floats(0.01, 1)), min_size=1, max_size=20))
def test_the_mean_lies_among_the_values_and_in_its_interval(drawn):
    y, pi = zip(*drawn, strict=True)
    found = hajek(y, pi)
    assert min(y) - 1e-9 <= found.value <= max(y) + 1e-9
    assert 1 - 1e-9 <= found.effective <= len(y) + 1e-9
    if found.low is not None:
        assert found.low <= found.value <= found.high


@pytest.mark.parametrize(
    ("values", "inclusion", "said"),
    [([1], [0], "above 0"), ([1], [1.5], "above 0"), ([], [], "no solution was drawn"), ([1, 2], [1], "values for")],
)
def test_draws_that_cannot_be_are_refused(values, inclusion, said):
    with pytest.raises(DataError, match=said):
        hajek(values, inclusion)


def test_a_variance_needs_two_draws():
    with pytest.raises(DataError, match="two draws"):
        total_variance([1], [0.5])
