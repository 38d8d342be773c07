"""Weighted metrics against pairs counted one by one, repeats written out, and answers worked out by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.evaluation.metrics import brier, expected_calibration_error, harmonic_mean, ranking

scored = st.lists(st.tuples(st.integers(0, 6), st.booleans(), st.integers(0, 3)), min_size=1, max_size=30)


@given(scored)
def test_auroc_equals_counting_pairs(rows) -> None:
    scores, positive, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    pairs = [
        (wi * wj, 1.0 if si > sj else 0.5 if si == sj else 0.0)
        for si, pi, wi in zip(scores, positive, weights, strict=True)
        for sj, pj, wj in zip(scores, positive, weights, strict=True)
        if pi and not pj
    ]
    total = sum(weight for weight, _ in pairs)
    found, _ = ranking(scores, positive, weights)
    if total == 0:
        assert np.isnan(found)
    else:
        assert found == pytest.approx(sum(weight * win for weight, win in pairs) / total)


@given(scored)
def test_weights_count_as_repeats(rows) -> None:
    scores, positive, weights = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    repeats = weights.astype(int)
    repeated = np.repeat(scores, repeats), np.repeat(positive, repeats), np.ones(repeats.sum())
    assert np.array(ranking(scores, positive, weights)) == pytest.approx(np.array(ranking(*repeated)), nan_ok=True)


@given(scored, st.integers(0, 100))
def test_many_weightings_at_once_are_as_one_by_one(rows, seed) -> None:
    scores, positive, _ = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weights = np.random.default_rng(seed).integers(0, 3, size=(4, len(scores))).astype(float)
    p = scores / 6
    together = [*ranking(scores, positive, weights), brier(p, positive, weights)]
    together.append(expected_calibration_error(p, positive, weights))
    for row, one in enumerate(weights):
        alone = [*ranking(scores, positive, one), brier(p, positive, one)]
        alone.append(expected_calibration_error(p, positive, one))
        assert np.array([values[row] for values in together]) == pytest.approx(np.array(alone), nan_ok=True)


def test_average_precision_takes_ties_together() -> None:
    scores, positive = np.array([3.0, 2, 1]), np.array([1.0, 0, 1])
    assert ranking(scores, positive, np.ones(3))[1] == pytest.approx((1 + 2 / 3) / 2)
    assert np.array(ranking(np.ones(3), positive, np.ones(3))) == pytest.approx([0.5, 2 / 3])


def test_calibration_by_hand() -> None:
    p, outcome, weights = np.array([0.95, 0.95, 0.15]), np.array([1.0, 0.0, 0.0]), np.ones(3)
    assert expected_calibration_error(p, outcome, weights) == pytest.approx((0.9 + 0.15) / 3)
    assert brier(p, outcome, weights) == pytest.approx((0.0025 + 0.9025 + 0.0225) / 3)
    assert expected_calibration_error(np.array([1.0]), np.array([1.0]), np.ones(1)) == 0


def test_harmonic_mean_of_nothing_is_nothing() -> None:
    a, b = np.array([0.0, 1.0, np.nan]), np.array([0.0, 0.5, 1.0])
    assert harmonic_mean(a, b) == pytest.approx([0, 2 / 3, np.nan], nan_ok=True)
