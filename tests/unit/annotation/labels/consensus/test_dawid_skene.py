"""The fit against the paper's own data and against crowd-kit."""

import json
from pathlib import Path

import numpy as np
import pytest

from annotation.labels.consensus.dawid_skene import fit
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


def columns(rows):
    return (np.array(column) for column in zip(*rows, strict=True))


def test_the_papers_anaesthetists():
    said = [
        (patient, reader, int(word) - 1)
        for patient, words in enumerate(PATIENTS)
        for reader, word in zip(READERS, words, strict=True)
    ]
    found = fit(*columns(said), classes=4, known={})
    assert found.prior == pytest.approx([0.40, 0.42, 0.11, 0.07], abs=0.005)
    items, readers, words = columns(said)
    likelihood = np.ones((len(PATIENTS), 4))
    np.multiply.at(likelihood, items, found.confusion[readers, :, words])
    assert np.log(likelihood @ found.prior).sum() == pytest.approx(-192.89, abs=0.01)
    # The first anaesthetist, as the paper prints it.
    assert found.confusion[0][:2] == pytest.approx(np.array([[0.89, 0.11, 0, 0], [0.07, 0.88, 0.05, 0]]), abs=0.005)


def test_it_finds_what_crowd_kit_finds():
    """`crowd_kit.json` holds words of four people of falling skill on 200 items, and what crowd-kit 1.4.2 makes of
    them: DawidSkene(n_iter=1000, tol=-1.0).fit_predict_proba, which runs to the end."""
    told = json.loads((Path(__file__).parent / "crowd_kit.json").read_text())
    said = [(item, who, int(word)) for item, words in enumerate(told["words"]) for who, word in enumerate(words)]
    found = fit(*columns(said), classes=3, known={})
    assert np.abs(found.truth - told["posterior"]).max() < 1e-3


@pytest.mark.parametrize(("name", "by_majority", "by_model"), [("bluebird", 0.759, 0.898), ("rte", 0.919, 0.928)])
def test_it_beats_the_majority_on_real_crowds(name, by_majority, by_model):
    said = np.loadtxt(real_data(f"crowd/{name}_crowd.txt"), dtype=int)
    truth = dict(np.loadtxt(real_data(f"crowd/{name}_truth.txt"), dtype=int).tolist())
    ids, items = np.unique(said[:, 0], return_inverse=True)
    _, people = np.unique(said[:, 1], return_inverse=True)
    words = said[:, 2] - 1
    right = np.array([truth[one] - 1 for one in ids.tolist()])
    votes = np.zeros((len(ids), 2))
    np.add.at(votes, (items, words), 1)
    assert (votes.argmax(axis=1) == right).mean() == pytest.approx(by_majority, abs=0.001)
    found = fit(items, people, words, classes=2, known={})
    assert (found.truth.argmax(axis=1) == right).mean() == pytest.approx(by_model, abs=0.001)


def test_a_person_of_whom_little_is_known_is_near_the_average():
    rng = np.random.default_rng(1)
    said = [*simulated(rng, items=200, skills=[0.9, 0.9, 0.9]), (0, 3, 2)]
    found = fit(*columns(said), classes=3, known={}, smoothing=10.0)
    assert found.confusion[3] == pytest.approx(found.average, abs=0.1)
    assert found.confusion[0].diagonal() == pytest.approx(0.9, abs=0.08)


def test_known_items_keep_their_class_and_tell_who_was_right():
    said = [(item, person, person) for item in range(30) for person in (0, 1)]
    found = fit(*columns(said), classes=2, known=dict.fromkeys(range(30), 1))
    assert found.truth[:, 1] == pytest.approx(1.0)
    assert found.confusion[0][1] == pytest.approx([1, 0], abs=1e-6)
    assert found.confusion[1][1] == pytest.approx([0, 1], abs=1e-6)


def simulated(rng, *, items, skills):
    """(item, person, word): each person names the true one of three classes with their skill, else another."""
    truth = rng.choice(3, size=items, p=[0.7, 0.1, 0.2])
    return [
        (item, person, int(true) if rng.random() < skill else int((true + rng.integers(1, 3)) % 3))
        for item, true in enumerate(truth)
        for person, skill in enumerate(skills)
    ]
