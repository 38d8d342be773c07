"""What a reader reveals and what it costs, by hand."""

import numpy as np
import pytest

from prm.acquisition import CostModel
from prm.labels import BAD, GOOD
from prm.simulation.replay import called_errors, read
from prm.traces import Step, StepLabel, Trace

SOFT = StepLabel(good=0.5, neutral=0.3, bad=0.2)
COST = CostModel(fixed_seconds=10.0, seconds_per_step=2.0, seconds_per_char=0.5)


def trace(error: int, labels: list | None = None) -> Trace:
    steps = [Step("ab"), Step("cdef"), Step("gh"), Step("i")]
    return Trace(id="t", problem="p", steps=steps, labels=labels, first_error=error, final_answer_correct=error < 0)


def test_only_the_steps_up_to_the_first_error_are_revealed_and_paid_for():
    reading = read(trace(1), 1, COST)
    assert reading.trace.labels == [GOOD, BAD, None, None]
    assert reading.trace.first_error == 1
    assert reading.steps == 2
    assert reading.seconds == 10 + 2 * 2 + 0.5 * 6


def test_a_right_solution_is_read_to_its_end():
    reading = read(trace(-1), -1, COST)
    assert reading.trace.labels == [GOOD] * 4
    assert reading.seconds == 10 + 4 * 2 + 0.5 * 9


def test_labels_beyond_the_error_stay_hidden_and_soft_ones_are_kept():
    reading = read(trace(1, [SOFT, BAD, GOOD, GOOD]), 1, COST)
    assert reading.trace.labels == [SOFT, BAD, None, None]


def test_a_missed_error_reads_on_and_a_false_alarm_stops():
    assert read(trace(1), -1, COST).trace.labels == [GOOD] * 4
    assert read(trace(-1), 0, COST).trace.labels == [BAD, None, None, None]


def test_nothing_that_a_reader_does_not_see_is_revealed():
    reading = read(trace(1), 1, COST)
    assert reading.trace.final_answer_correct is False, "the grade is the pool's own, not the reader's"
    assert reading.trace.alternatives == []


def test_readers_err_as_often_as_they_are_said_to_and_alike_whoever_chooses():
    traces = [trace(1), trace(-1)] * 2000
    called = called_errors(traces, 0.2, seed=3)
    wrong = np.array(called) != np.array([1, -1] * 2000)
    assert wrong.mean() == pytest.approx(0.2, abs=0.02)
    assert {c for c, w in zip(called[::2], wrong[::2], strict=True) if w} == {-1}
    assert {c for c, w in zip(called[1::2], wrong[1::2], strict=True) if w} == {0, 1, 2, 3}
    assert called_errors(traces, 0.2, seed=3) == called
    assert called_errors(traces, 0.0, seed=3) == [1, -1] * 2000
