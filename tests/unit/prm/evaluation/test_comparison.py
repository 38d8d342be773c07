"""A challenger against a champion on the same solutions."""

import pytest

from prm.errors import DataError
from prm.evaluation import compare
from prm.threshold import Threshold
from tests.unit.prm.evaluation.hand_made import HAND_MADE, score, trace


def test_comparing_equal_scores_gains_nothing() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    same = compare(traces, scores, scores, thresholds=(Threshold(0.5), Threshold(0.5)), bootstrap=100)
    assert (same.gain, same.low, same.high) == (0, 0, 0)


def test_a_better_challenger_gains_and_its_interval_is_by_problem() -> None:
    traces = [trace(f"{i}", 1, 0 if i % 2 else -1, problem=f"p{i // 2}") for i in range(40)]
    right = [score(t.id, 0.1 if t.first_error == 0 else 0.9) for t in traces]
    wrong = [score(t.id, 0.9) for t in traces]
    result = compare(traces, right, wrong, thresholds=(Threshold(0.5), Threshold(0.5)), bootstrap=200)
    assert (result.gain, result.challenger, result.champion, result.n_problems) == (1, 1, 0, 20)
    assert result.low == result.high == 1
    assert result.samples == [1.0] * 200
    with pytest.raises(DataError, match="no domain has both"):
        compare(traces[::2], right, wrong, thresholds=(Threshold(0.5), Threshold(0.5)))


def test_without_solutions_two_models_cannot_be_compared() -> None:
    with pytest.raises(DataError, match="no domain has both"):
        compare([], [], [], thresholds=(Threshold(0.5), Threshold(0.5)), bootstrap=10)


def test_without_resamples_there_is_a_gain_and_no_interval() -> None:
    traces, scores = map(list, zip(*HAND_MADE, strict=True))
    result = compare(traces, scores, scores, thresholds=(Threshold(0.5), Threshold(0.4)), bootstrap=0)
    assert (result.error, result.low, result.high, result.samples) == (None, None, None, [])
