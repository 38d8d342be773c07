"""A verdict knows the length of its solution: a long one is not rejected for having more steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.calibration import fit_threshold, threshold_for_share
from prm.evaluation import evaluate
from prm.scores import TraceScore
from prm.threshold import UNFITTED, Threshold
from prm.traces import Step, Trace
from prm.trust import judge

ODDS = 40.0  # of doubt, at most, in the steps of a right solution


def right_solutions(steps: int, count: int) -> list[np.ndarray]:
    """Solutions whose steps are equally doubtful at every length: the odds of good have a tail as heavy as 1 / odds."""
    rng = np.random.default_rng(steps)
    odds = ODDS * rng.uniform(size=(count, steps))
    return list(odds / (1 + odds))


def rejected(threshold: Threshold, solutions: list[np.ndarray]) -> float:
    return float(np.mean([threshold.first_below(p) >= 0 for p in solutions]))


def test_long_right_solutions_are_rejected_as_rarely_as_short_ones():
    short, long = right_solutions(5, 4000), right_solutions(80, 4000)
    assert rejected(Threshold(0.8), long) > 0.99, "one threshold for every step rejects nearly all"
    threshold = Threshold(0.8, 5)
    assert rejected(threshold, short) == pytest.approx(0.4, abs=0.03)
    assert rejected(threshold, long) == pytest.approx(rejected(threshold, short), abs=0.04)


def test_the_prediction_is_the_first_step_below_the_threshold():
    assert Threshold(0.5).first_error([0.9, 0.4, 0.1]) == 1
    assert Threshold(0.5).first_error([0.9, 0.5]) == -1
    assert Threshold(0.5).first_error([0.1, None]) is None
    assert Threshold(0.5).first_below([0.9, None, 0.4, 0.1]) == 2, "a step without a score is passed over"
    assert Threshold(0.05).first_below([0.9, None, 0.4, 0.1]) == -1


def test_the_threshold_falls_with_the_length_beyond_its_steps():
    threshold = Threshold(0.8, 5)
    assert [threshold.at(n) for n in (1, 5)] == pytest.approx([0.8, 0.8])
    assert threshold.at(20) == pytest.approx(0.5), "odds of 4 become odds of 1 in four times as many steps"
    assert UNFITTED.at(1000) == 0.5
    assert Threshold(0.0, 5).at(50) == 0
    assert Threshold(1.0, 5).at(50) == 1


@given(st.floats(0.01, 0.99), st.integers(1, 200), st.floats(0.001, 0.999), st.integers(1, 50))
def test_shortened_scores_are_below_the_value_as_scores_are_below_the_threshold(value, steps, p, reference):
    threshold = Threshold(value, reference)
    if abs(p - threshold.at(steps)) > 1e-9:
        assert (threshold.shorten(np.array([p]), steps)[0] < value) == (p < threshold.at(steps))


def test_the_fit_is_of_the_verdicts_that_the_threshold_gives():
    """No single value separates right from wrong: at .7 a solution of 20 steps is right, one of 5 wrong at .75.

    Long solutions are few, so the value holds for the short ones.
    """
    scores, errors = [], []
    for steps, right, wrong, n in ((5, 0.9, 0.75, 50), (20, 0.7, 0.5, 5)):
        for low, error in ((right, -1), (wrong, 2)):
            p = np.full(steps, 0.99)
            p[2] = low
            scores += [p] * n
            errors += [error] * n
    threshold = fit_threshold(scores, errors)
    assert threshold.steps == 5
    assert [threshold.first_error(p.tolist()) for p in scores] == errors
    share = threshold_for_share(scores, 0.5)
    assert np.mean([share.first_below(p) >= 0 for p in scores]) == pytest.approx(0.5)


def test_the_sentence_states_the_same_limits():
    threshold = Threshold(0.8, 5)
    assert threshold.sentence.endswith("c / (c + n), with c = 20.0000.")
    assert pytest.approx(threshold.at(30)) == 20 / (20 + 30)
    assert UNFITTED.sentence == "A score below 0.5000 counts as an error."
    assert (str(threshold), str(UNFITTED)) == ("0.800 (in up to 5 steps)", "0.500")


def test_evaluation_and_answers_judge_by_the_length():
    """A short and a long right solution, and their wrong twins, at a threshold of .8 in 5 steps and .5 in 20."""
    traces, scores = [], []
    for steps, low in ((5, 0.85), (20, 0.6)):
        for error, p in ((-1, low), (1, low - 0.2)):
            name = f"{steps}, {error}"
            mean = [0.95, p, *[0.95] * (steps - 2)]
            traces.append(Trace(name, name, [Step("s")] * steps, first_error=error))
            scores.append(TraceScore(name, [[one] for one in mean], mean, [None] * steps, None))
    by_length = {"threshold": Threshold(0.8, 5), "bootstrap": 0}
    assert evaluate(traces, scores, **by_length).overall.processbench_f1.value == 1
    assert evaluate(traces, scores, threshold=Threshold(0.8), bootstrap=0).overall.correct_accuracy.value == 0.5
    answers = [judge(score, "product", Threshold(0.8, 5), None) for score in scores]
    assert [one.first_suspicious for one in answers] == [-1, 1, -1, 1]
    assert [one.threshold for one in answers] == pytest.approx([0.8, 0.8, 0.5, 0.5])
