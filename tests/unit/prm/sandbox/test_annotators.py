"""Simulated annotators stop where they call an error, and the better ones are right more often."""

import numpy as np
import pytest

from prm.sandbox import WorldConfig, generate
from prm.sandbox.annotators import PROFILES, simulate_labels
from prm.traces import Step, Trace


@pytest.fixture(scope="module")
def traces():
    return list(generate(WorldConfig(), split="pool", n=1500, seed=11))


@pytest.mark.parametrize("name", PROFILES)
def test_a_reading_stops_at_the_first_error_called(traces, name):
    rng = np.random.default_rng(0)
    for trace in traces[:300]:
        reading = simulate_labels(trace, PROFILES[name], rng)
        ratings = [step.rating for step in reading.steps]
        if reading.first_error < 0:
            assert len(ratings) == len(trace.steps)
            assert -1 not in ratings
            assert reading.finish_reason == "solution"
        else:
            assert ratings.index(-1) == reading.first_error == len(ratings) - 1
            assert reading.finish_reason == "found_error"
        assert all((step.rating is None) == (step.state == "unsure") for step in reading.steps)
        assert all(step.dwell_ms > 0 for step in reading.steps)


def test_better_profiles_agree_more_with_the_truth(traces):
    def agreement(name):
        rng = np.random.default_rng(1)
        return np.mean([simulate_labels(t, PROFILES[name], rng).first_error == t.first_error for t in traces])

    careful, average, hasty, lenient = map(agreement, ("careful", "average", "hasty", "lenient"))
    assert careful > average > hasty
    assert average > lenient
    assert careful > 0.85


def test_a_lenient_annotator_overlooks_errors_rather_than_inventing_them(traces):
    rng = np.random.default_rng(2)
    calls = [(t.first_error, simulate_labels(t, PROFILES["lenient"], rng).first_error) for t in traces]
    overlooked = sum(truth >= 0 and called == -1 for truth, called in calls)
    invented = sum(truth == -1 and called >= 0 for truth, called in calls)
    assert overlooked > 3 * invented


def test_long_steps_are_read_longer(traces):
    rng = np.random.default_rng(3)
    pairs = [
        (len(s.text), r.dwell_ms)
        for t in traces
        for s, r in zip(t.steps, simulate_labels(t, PROFILES["careful"], rng).steps, strict=False)
    ]
    lengths, dwell = np.array(pairs).T
    assert dwell[lengths > 50].mean() > 1.3 * dwell[lengths < 25].mean()


def test_the_same_generator_state_gives_the_same_reading(traces):
    first, second = (simulate_labels(traces[0], PROFILES["average"], np.random.default_rng(4)) for _ in range(2))
    assert first == second


def test_a_trace_without_truth_is_refused():
    with pytest.raises(ValueError, match="no known truth"):
        simulate_labels(Trace(id="x", problem="p", steps=[Step("s")]), PROFILES["careful"], np.random.default_rng(0))
