"""Dawid and Skene's model of labels by people who err, each in their own way, fitted by EM. Pure numpy.

A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Applied Statistics 28 (1979): an item has one true class, and each person says class l of an item of true class k
with a probability of their own.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROUNDS, CLOSE_ENOUGH = 500, 1e-6
NEVER = 1e-9  # in place of zero, whose logarithm is not finite

Array = NDArray[np.float64]
Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Fit:
    """`prior` [classes] of the true classes; `confusion` [people, classes, classes], rows the truth; `average`
    [classes, classes] that of all people together; `truth` [items, classes], the posterior of each item."""

    prior: Array
    confusion: Array
    average: Array
    truth: Array


def fit(
    items: Indices, people: Indices, words: Indices, *, classes: int, known: Mapping[int, int], smoothing: float = 0.0
) -> Fit:
    """EM from shares of votes, on three columns [votes] of indices: who said which class of which item.

    `known` items have that class for certain. With `smoothing`, a person is taken for the average one as if so many of
    their words on each true class had been that one's; 0 is the paper's maximum likelihood.
    """
    crowd = int(people.max()) + 1
    truth = np.zeros((int(items.max()) + 1, classes))
    np.add.at(truth, (items, words), 1.0)
    truth = _settle(truth / truth.sum(axis=1, keepdims=True), known)
    for _ in range(ROUNDS):
        prior, average, confusion = _maximise(truth, items, people, words, crowd, smoothing)
        before, truth = truth, _settle(_expect(prior, confusion, items, people, words), known)
        if np.abs(truth - before).max() < CLOSE_ENOUGH:
            break
    return Fit(prior, confusion, average, truth)


def _settle(truth: Array, known: Mapping[int, int]) -> Array:
    for item, settled in known.items():
        truth[item] = np.eye(truth.shape[1])[settled]
    return truth


def _maximise(
    truth: Array, items: Indices, people: Indices, words: Indices, crowd: int, smoothing: float
) -> tuple[Array, Array, Array]:
    """Equations 2.3 and 2.4: the prior, the average confusion, and each person's."""
    classes = truth.shape[1]
    counts = np.full((crowd, classes, classes), NEVER)
    for true in range(classes):
        np.add.at(counts[:, true], (people, words), truth[items, true])
    average = _rows(counts.sum(axis=0))
    return truth.mean(axis=0), average, _rows(counts + smoothing * average)


def _expect(prior: Array, confusion: Array, items: Indices, people: Indices, words: Indices) -> Array:
    """Equation 2.5: the posterior of each item."""
    logs = np.tile(np.log(prior + NEVER), (int(items.max()) + 1, 1))
    np.add.at(logs, items, np.log(confusion[people, :, words]))
    return _rows(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _rows(counts: Array) -> Array:
    shares: Array = counts / counts.sum(axis=-1, keepdims=True)
    return shares
