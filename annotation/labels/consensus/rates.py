"""Each annotator's error rates, pooled: the fewer checked labels of a person, the nearer to everybody's. Pure numpy.

A person knows the rating of a step with the probability of their competence, and otherwise guesses by their habit
(D. Hovy et al., "Learning whom to trust with MACE", NAACL 2013). Each row of their confusion is drawn from a Dirichlet
distribution around these rates, and competences from a Beta distribution around the average one. How strongly both
distributions pool is estimated, because crowds differ.
"""

from dataclasses import dataclass

import numpy as np

from annotation.labels.consensus.chains import NEVER, Array, shares

STRENGTHS = np.geomspace(1.0, 100.0, 24)  # in labels
PEOPLE_DIFFER, ROWS_DIFFER = 6.0, 20.0  # strengths before any labels: the medians of their distributions
SPREAD = 1.0  # and the deviation of their logarithms
COMPETENCE, BELIEVED = 0.7, 10.0  # of the average person before any labels, and the labels that this counts as
HABIT = 2.0  # guesses by the shares of a person's ratings that are added to theirs
ROUNDS = 3  # of the competences within a round of the fit, which continues from there
AFTER = np.array([8.0, 1.0, 1.0])  # imagined ratings after the first error, which who gives them overlooked


@dataclass(frozen=True)
class Rates:
    """`confusion` [people + 1, classes + 1, words], the last person a stranger and the last class any step after the
    first error. `competence` is by person [people + 1]."""

    confusion: Array
    competence: Array


def pool(counts: Array, habit: Array, competence: Array) -> Rates:
    """The rates at these `counts` [people + 1, classes + 1, words] of checked ratings by the probable truth.

    `habit` [people + 1, words] are the shares of each person's ratings, and `competence` [people + 1] is the start.
    """
    known, of = counts[:, :-1], counts[:, :-1].sum(axis=(1, 2))
    classes = known.shape[1]
    own = habit
    right = np.einsum("pkk->pk", known)
    differ = PEOPLE_DIFFER
    for _ in range(ROUNDS):
        by_knowing = competence[:, None] / (competence[:, None] + (1 - competence)[:, None] * habit + NEVER)
        knew = right * by_knowing
        fewer = ((differ + 1) / (of + differ))[:-1]  # a person's ratings resemble each other
        average = (BELIEVED * COMPETENCE + fewer @ knew[:-1].sum(axis=1)) / (BELIEVED + fewer @ of[:-1])
        differ = _strength(
            np.stack([knew.sum(axis=1), of - knew.sum(axis=1)], axis=1)[:-1],
            np.array([average, 1 - average]),
            PEOPLE_DIFFER,
        )
        competence = (knew.sum(axis=1) + differ * average) / (of + differ)
        habit = shares(known.sum(axis=1) - knew + HABIT * own)
    mean = competence[:, None, None] * np.eye(classes) + (1 - competence)[:, None, None] * habit[:, None, :]
    pooled = _strength(known[:-1].reshape(-1, classes), mean[:-1].reshape(-1, classes), ROWS_DIFFER)
    confusion = shares(known + pooled * mean)
    after = np.broadcast_to(shares(counts[:, -1].sum(axis=0) + AFTER), (len(counts), 1, classes))
    return Rates(np.concatenate([confusion, after], axis=1), competence)


def _strength(counts: Array, mean: Array, median: float) -> float:
    """The geometric mean of the concentration's posterior, if rows of `counts` are drawn around rows of `mean`."""
    mean = np.broadcast_to(mean, counts.shape) + NEVER
    grid = STRENGTHS[:, None, None] * mean
    total = counts.sum(axis=-1)
    likelihood = (log_gamma(counts + grid) - log_gamma(grid)).sum(axis=(1, 2))
    likelihood += (log_gamma(STRENGTHS)[:, None] - log_gamma(total + STRENGTHS[:, None])).sum(axis=1)
    logs = likelihood - 0.5 * (np.log(STRENGTHS / median) / SPREAD) ** 2
    chances = np.exp(logs - logs.max())
    return float(np.exp(chances @ np.log(STRENGTHS) / chances.sum()))


def log_gamma(x: Array) -> Array:
    """The logarithm of the gamma function of positive numbers, by Stirling's series at x + 6."""
    y = x + 6
    product = x * (x + 1) * (x + 2) * (x + 3) * (x + 4) * (x + 5)
    series = 1 / (12 * y) - 1 / (360 * y**3) + 1 / (1260 * y**5)
    logs: Array = (y - 0.5) * np.log(y) - y + 0.5 * np.log(2 * np.pi) + series - np.log(product)
    return logs
