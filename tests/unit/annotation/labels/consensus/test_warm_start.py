"""A refit that starts from the last one ends where a full refit ends."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.consensus import CONSENSUS, Evidence, Vote

CLOSE = 0.005  # of a probability


def crowd(seed, *, solutions, people, gold):
    """The votes of people of different skill up to the first step that each calls bad, and known ratings."""
    rng = np.random.default_rng(seed)
    skill, votes, settled = rng.uniform(0.55, 0.98, people), [], {}
    for solution in range(solutions):
        error = rng.integers(0, 6)
        truths = [1] * error + [-1] if error < 5 else [1] * 5
        for person in rng.permutation(people)[: rng.integers(1, 4)]:
            for position in range(5):
                truth = truths[position] if position < len(truths) else 1
                rating = truth if rng.random() < skill[person] else -truth
                votes.append(Vote(solution, position, f"person {person}", int(rating)))
                if rating == -1:
                    break
        if solution < gold:
            settled |= {(solution, position, 0): truth for position, truth in enumerate(truths)}
    return votes, settled


def evidence_before(votes, settled, end):
    known = {step: rating for step, rating in settled.items() if step[0] < end}
    return Evidence([vote for vote in votes if vote.solution < end], known, list(known))


@pytest.mark.slow
@pytest.mark.parametrize("method", ["reliability", "mace"])
@settings(max_examples=4)
@given(seed=st.integers(0, 10_000), people=st.integers(2, 6), gold=st.sampled_from([0, 8]))
def test_a_warm_start_changes_no_posterior(method, seed, people, gold):
    estimate = CONSENSUS.get(method).estimate
    votes, settled = crowd(seed, solutions=24, people=people, gold=gold)
    everything = evidence_before(votes, settled, 24)
    full = estimate(everything)
    half = estimate(evidence_before(votes, settled, 12))
    if full is None or half is None:
        return
    warm = estimate(everything, start=half.parameters)
    before, after = full.posteriors(votes), warm.posteriors(votes)
    for step, posterior in before.items():
        assert after[step][:3] == pytest.approx(posterior[:3], abs=CLOSE)
