"""The posterior of a chain, against a sum over all places of the first error."""

import numpy as np
import pytest

from annotation.labels.consensus.chains import expect, link, pack
from prm.consensus import Vote

PRIOR = np.array([[0.7, 0.1, 0.2]])
RATES = np.array(
    [
        [[0.9, 0.05, 0.05], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6], [0.6, 0.2, 0.2]],
        [[0.8, 0.1, 0.1], [0.3, 0.5, 0.2], [0.2, 0.1, 0.7], [0.6, 0.2, 0.2]],
    ]
)
PEOPLE = {"a": 0, "b": 1}


def stops(person, *ratings):
    return [Vote("s", position, person, rating) for position, rating in enumerate(ratings)]


def judged(votes, settled=None):
    chains = [chain for _, chain in link(votes, settled or {})]
    ballots = pack(chains, PEOPLE, {"": 0})
    return expect(ballots, PRIOR, RATES, np.ones(len(votes)))


def by_hand(votes, steps):
    """The joint probability of the votes and each place of the first error, without the tricks."""
    word = {1: 0, 0: 1, -1: 2}
    joint = np.zeros((steps + 1, steps, 4))
    for error in range(steps + 1):
        parts = []
        for step in range(steps):
            of_class = np.ones(4)
            for vote in votes:
                if vote.position == step:
                    of_class *= RATES[PEOPLE[vote.person], :, word[vote.rating]]
            if step < error:
                parts.append(np.array([*(PRIOR[0, :2] * of_class[:2]), 0, 0]))
            elif step == error:
                parts.append(np.array([0, 0, PRIOR[0, 2] * of_class[2], 0]))
            else:
                parts.append(np.array([0, 0, 0, of_class[3]]))
        for step in range(steps):
            joint[error, step] = parts[step] * np.prod([p.sum() for n, p in enumerate(parts) if n != step])
    return joint.sum(axis=0) / joint.sum(axis=0).sum(axis=1, keepdims=True)


@pytest.mark.parametrize(
    "votes",
    [
        stops("a", 1, 1, -1),
        [*stops("a", 1, 1, -1), *stops("b", 1, 1, 1, 1, 0)],
        [*stops("a", 1, -1), *stops("b", 1, 1, 0, -1)],
        stops("b", -1),
    ],
)
def test_a_chain_sums_over_all_places_of_the_first_error(votes):
    steps = 1 + max(vote.position for vote in votes)
    assert judged(votes) == pytest.approx(by_hand(votes, steps), abs=1e-7)


def test_a_settled_step_is_certain_and_is_reached():
    votes = [*stops("a", 1, 1, -1), *stops("b", 1, -1)]
    truth = judged(votes, {("s", 1, 0): 1})
    assert truth[1] == pytest.approx([1, 0, 0, 0], abs=1e-6)
    assert truth[2, 3] == pytest.approx(0, abs=1e-6)
    assert judged(votes, {("s", 1, 0): -1})[2, 3] == pytest.approx(1, abs=1e-6)


def test_steps_are_apart_where_somebody_rates_on_after_an_error():
    chain = [len(steps) for steps, _ in link([*stops("a", 1, -1), *stops("b", 1, 1)], {})]
    assert chain == [2]
    apart = [len(steps) for steps, _ in link([*stops("a", 1, -1, 1), *stops("b", 1, 1)], {})]
    assert apart == [1, 1, 1]
    beside = [Vote("s", 1, "a", 1, alternative=1)]
    assert [len(steps) for steps, _ in link([*stops("a", 1, -1), *beside], {})] == [2, 1]
