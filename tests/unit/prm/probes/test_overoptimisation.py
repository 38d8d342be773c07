"""Best-of-N leaned on ever harder: known curves for verifiers that know, do not know, and are fooled."""

from collections.abc import Callable
from random import Random

import numpy as np
import pytest

from prm.labels import BAD, GOOD
from prm.probes.overoptimisation import divergence, overoptimisation
from prm.scores import AGGREGATES, TraceScore
from prm.traces import Step, Trace

Verifier = Callable[[bool, Random], float]


def pools(problems: int = 30, candidates: int = 32) -> list[Trace]:
    """Each problem's share of right candidates differs; a wrong one has a false step."""
    rng = Random(3)
    found = []
    for problem in range(problems):
        share = rng.uniform(0.2, 0.6)
        for candidate in range(candidates):
            right = rng.random() < share
            found.append(
                Trace(
                    id=f"{problem}-{candidate}",
                    problem=f"problem {problem}",
                    problem_id=str(problem),
                    steps=[Step("a"), Step(f"The answer is {1 if right else rng.randrange(2, 9)}.")],
                    labels=[GOOD, GOOD if right else BAD],
                    final_answer_correct=right,
                )
            )
    return found


def curves_of(verifier: Verifier):
    rng = Random(4)
    traces = pools()
    values = [(trace.id, [1.0, verifier(bool(trace.final_answer_correct), rng)]) for trace in traces]
    scores = [TraceScore(id, [[p] for p in mean], mean, [None, None], mean[1]) for id, mean in values]
    return overoptimisation(traces, scores, bootstrap=100)


def values(metrics) -> list[float]:
    return [metric.value for metric in metrics]


def test_a_perfect_verifier_reaches_the_oracle_at_every_n_and_never_turns_down():
    found = curves_of(lambda right, rng: 0.5 + right * 0.4)
    for curve in (found.curves[rule] for rule in AGGREGATES):
        assert values(curve.outcome) == pytest.approx(values(found.oracle))
        assert values(curve.sound) == pytest.approx(values(found.oracle))
        assert np.all(np.diff(values(curve.outcome)) >= 0)
        assert (curve.best_n, curve.lost.value, curve.lost.high) == (32, 0, 0)
        assert values(curve.fooled) == [0] * len(found.sizes)


def test_a_verifier_that_prefers_wrong_solutions_is_fooled_more_the_more_it_may_choose_from():
    found = curves_of(lambda right, rng: rng.uniform(0.1, 0.5) + (0 if right else 0.4))
    for curve in (found.curves[rule] for rule in AGGREGATES):
        assert np.all(np.diff(values(curve.proxy)) > 0)
        assert np.all(np.diff(values(curve.outcome)) < 0)
        assert np.all(np.diff(values(curve.fooled)) > 0)
        assert (curve.best_n, curve.enough_n) == (1, 1)
        assert curve.lost.low > 0
        assert curve.alpha.high < 0


def test_a_verifier_with_a_few_convincing_wrong_solutions_helps_first_and_harms_then():
    """Gao et al.'s shape: choosing among few it is right, among many it finds what fools it."""
    found = curves_of(lambda right, rng: rng.uniform(0.5, 0.8) if right else rng.choice([0.9] + [0.1] * 14))
    curve = found.curves["last"]
    assert 1 < curve.best_n < 32
    assert curve.lost.low > 0
    assert curve.beta.low > 0


def test_a_vote_is_not_fooled_by_a_few_convincing_wrong_solutions():
    """They score more than the right ones, but name different answers."""
    found = curves_of(lambda right, rng: rng.uniform(0.5, 0.8) if right else rng.choice([0.9] + [0.1] * 14))
    vote, best = found.curves["vote"], found.curves["product"]
    assert vote.outcome[0].value == pytest.approx(best.outcome[0].value, abs=0.03)
    assert vote.best_n == 32
    assert vote.outcome[-1].low > best.outcome[-1].high
    assert vote.fooled[-1].high < best.fooled[-1].low


def test_a_verifier_that_does_not_know_gains_nothing():
    found = curves_of(lambda right, rng: 0.5)
    for rule in AGGREGATES:
        assert values(found.curves[rule].outcome) == pytest.approx([found.random.value] * len(found.sizes))
        assert found.curves[rule].enough_n == 1


def test_step_truth_is_left_out_where_it_is_unknown():
    traces = pools(3, 4)
    for trace in traces:
        trace.labels = None
    scores = [TraceScore(t.id, [[0.5], [0.5]], [0.5, 0.5], [None, None], 0.25) for t in traces]
    assert overoptimisation(traces, scores, bootstrap=20).curves["min"].sound is None


def test_a_solution_that_was_not_scored_whole_ranks_last():
    traces = pools(2, 4)
    scores = [
        TraceScore(t.id, [[0.9], None], [0.9, None], [None, None], 0.9)
        if t.final_answer_correct
        else TraceScore(t.id, [[0.2], [0.2]], [0.2, 0.2], [None, None], 0.04)
        for t in traces
    ]
    found = overoptimisation(traces, scores, bootstrap=20)
    assert found.curves["product"].outcome[-1].value == 0


@pytest.mark.parametrize(("n", "kl"), [(1, 0.0), (2, np.log(2) - 0.5), (1000, np.log(1000) - 0.999)])
def test_divergence_is_that_of_best_of_n(n, kl):
    assert divergence(n) == pytest.approx(kl)
