"""Dawid and Skene's model of labels by people with individual error rates, fitted by EM. Pure numpy.

A. P. Dawid and A. M. Skene, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
Applied Statistics 28 (1979): an item has one true class, and each person labels an item of true class k as class l
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
    [classes, classes] that of all people together; `truth` [items, classes], the posterior of each item.

    `counts` [people, classes, classes] are each person's own labels on items of each true class, weighted by the
    posterior of the truth: not whole numbers, and without smoothing.
    """

    prior: Array
    confusion: Array
    average: Array
    truth: Array
    counts: Array


def fit(
    items: Indices,
    people: Indices,
    words: Indices,
    *,
    classes: int,
    known: Mapping[int, int],
    smoothing: float = 0.0,
    imagined: Array | None = None,
) -> Fit:
    """Fit the model by EM, starting from shares of votes. `items`, `people` and `words` are columns of the votes.

    `words` are the classes that people chose; `known` items certainly have that class. With `smoothing`, each person's
    row for a true class gets that many votes of the average person. `imagined` [classes, classes], rows the truth, adds
    votes to the average person and items to the prior. Without both this is the paper's maximum likelihood.
    """
    crowd = int(people.max()) + 1
    added = np.zeros((classes, classes)) if imagined is None else imagined
    truth = np.zeros((int(items.max()) + 1, classes))
    np.add.at(truth, (items, words), 1.0)
    truth = _settle(truth / truth.sum(axis=1, keepdims=True), known)
    for _ in range(ROUNDS):
        counts = _count(truth, items, people, words, crowd)
        average = _rows(counts.sum(axis=0) + added)
        confusion = _rows(counts + smoothing * average)
        prior = _rows(truth.sum(axis=0) + added.sum(axis=1))
        before, truth = truth, _settle(_expect(prior, confusion, items, people, words), known)
        if np.abs(truth - before).max() < CLOSE_ENOUGH:
            break
    return Fit(prior, confusion, average, truth, counts)


def prior_of_all(estimates: Fit, alone: Array, confusion: Array, imagined: Array) -> Array:
    """The prior [classes] of all items: those of the fit, and those that only one person rated.

    `alone` [people, classes] counts the latter by the chosen class, `confusion` [people, classes, classes] is these
    people's, and `imagined` is as in `fit`. The confusions stay fixed: a single vote shows how common a class is, but
    nothing about the person. The likelihood is then concave in the prior, so EM finds its one maximum.
    """
    prior = estimates.prior
    fixed = estimates.truth.sum(axis=0) + imagined.sum(axis=1)
    for _ in range(ROUNDS):
        believed = _rows(np.swapaxes(confusion, 1, 2) * (prior + NEVER))
        before, prior = prior, _rows(fixed + np.einsum("pw,pwk->k", alone, believed))
        if np.abs(prior - before).max() < CLOSE_ENOUGH:
            break
    return prior


def _settle(truth: Array, known: Mapping[int, int]) -> Array:
    for item, settled in known.items():
        truth[item] = np.eye(truth.shape[1])[settled]
    return truth


def _count(truth: Array, items: Indices, people: Indices, words: Indices, crowd: int) -> Array:
    """The counts in equation 2.3: each person's votes by true class."""
    classes = truth.shape[1]
    counts = np.full((crowd, classes, classes), NEVER)
    for true in range(classes):
        np.add.at(counts[:, true], (people, words), truth[items, true])
    return counts


def _expect(prior: Array, confusion: Array, items: Indices, people: Indices, words: Indices) -> Array:
    """Equation 2.5: the posterior of each item."""
    logs = np.tile(np.log(prior + NEVER), (int(items.max()) + 1, 1))
    np.add.at(logs, items, np.log(confusion[people, :, words]))
    return _rows(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _rows(counts: Array) -> Array:
    shares: Array = counts / counts.sum(axis=-1, keepdims=True)
    return shares
