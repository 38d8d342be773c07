"""The models on data of others with known answers; the sets are read from beside the checkout."""

import numpy as np
import pytest

from annotation.labels.consensus import mace, reliability
from prm.consensus import Evidence
from research.consensus import by_shares, dawid_skene, measure, posteriors_of, read_crowd, read_processes
from tests.real_data import real_data

# Dawid and Skene (1979), table 1: 45 patients, three readings by the first anaesthetist and one by each other.
PATIENTS = [
    "1111111", "3334334", "1122122", "2223121", "2223222", "2223322", "1222111", "3333433", "2222223",
    "2322223", "4444444", "2223343", "1111111", "2223212", "1211111", "1112111", "1111111", "1111111",
    "2222221", "2221322", "2222222", "2222221", "2223222", "2212222", "1111111", "1111111", "2322222",
    "1111111", "1111111", "1121121", "1111111", "3333233", "1111111", "2222222", "2223232", "4334343",
    "2212232", "2323233", "3333432", "1111111", "1111111", "1212111", "2322222", "1211111", "2222222",
]  # fmt: skip
READERS = (0, 0, 0, 1, 2, 3, 4)


def test_the_papers_anaesthetists():
    """Without pooling, the posterior of steps apart is that of the paper."""
    readings = [
        (patient, reader, int(word) - 1)
        for patient, words in enumerate(PATIENTS)
        for reader, word in zip(READERS, words, strict=True)
    ]
    items, readers, words = (np.array(column) for column in zip(*readings, strict=True))
    prior, confusion, _ = dawid_skene(items, readers, words, 4)
    assert prior == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)
    likelihood = np.ones((len(PATIENTS), 4))
    np.multiply.at(likelihood, items, confusion[readers, :, words])
    assert np.log(likelihood @ prior).sum() == pytest.approx(-192.89, abs=0.01)
    # The first anaesthetist, as the paper prints it.
    assert confusion[0][:2] == pytest.approx(np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0]]), abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "by_majority", "by_paper"), [("bluebird", 0.759, 0.898), ("rte", 0.919, 0.928)])
def test_crowds_with_two_classes(name, by_majority, by_paper):
    data = real_data(f"crowd/{name}_crowd.txt").parents[1]
    votes, truth = read_crowd(data, name)
    evidence = Evidence(votes)
    majority = measure(by_shares(evidence), truth)
    assert majority.accuracy == pytest.approx(by_majority, abs=0.001)
    columns = (
        np.array([vote.solution for vote in votes]),
        np.unique([vote.person for vote in votes], return_inverse=True)[1],
        np.array([vote.rating < 0 for vote in votes], dtype=int),
    )
    _, columns_of_items = np.unique(columns[0], return_inverse=True)
    _, _, posterior = dawid_skene(columns_of_items, columns[1], columns[2], 2)
    right = [(truth[item, 0, 0] < 0) == (p[1] > 0.5) for item, p in zip(np.unique(columns[0]), posterior, strict=True)]
    assert np.mean(right) == pytest.approx(by_paper, abs=0.001)
    ours = measure(posteriors_of(reliability.estimate(evidence), evidence), truth)
    assert ours.accuracy > by_majority
    assert ours.nll < majority.nll - 0.1
    assert ours.ece < 0.1
    assert measure(posteriors_of(mace.estimate(evidence), evidence), truth).accuracy > by_majority


@pytest.mark.slow
def test_twenty_judges_of_agent_runs_are_calibrated_by_gold():
    """With equal weights of 20 raters, 15 % of the posteriors lay beyond .99, and one in ten of these was wrong."""
    data = real_data("agentprocessbench/gold.jsonl").parents[1]
    votes, truth = read_processes(data)
    gold = {step: rating for step, rating in truth.items() if step[0][0] % 5 == 0}
    rest = {step: rating for step, rating in truth.items() if step not in gold}
    evidence = Evidence(votes, gold, list(gold))
    majority = measure(by_shares(evidence), rest)
    ours = measure(posteriors_of(reliability.estimate(evidence), evidence), rest)
    assert ours.nll < majority.nll - 0.1
    assert ours.accuracy > majority.accuracy
    assert ours.ece < 0.1
    assert ours.extreme * ours.wrong < 0.01
    without = Evidence(votes)
    unaided = measure(posteriors_of(reliability.estimate(without), without), truth)
    equal = measure(by_shares(without), truth)
    assert unaided.accuracy > equal.accuracy - 0.02
    assert unaided.nll < equal.nll
