"""What may be believed of a score: how sure its verdict is, whether its kind was learned, when to say nothing.

Both bars are fitted on the calibration split once training is over, and stand in the manifest as plain numbers.
numpy only.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
QUANTILE = 0.99  # share of the calibration split that counts as the known domain
CONFIDENCE = 0.9  # of the bound on the accuracy above the abstention bar
LEAST_SOLUTIONS = 20  # below it, nothing is fitted


class DomainBar(msgspec.Struct, frozen=True):
    """Where solutions stop to look like those learned from: a Mahalanobis distance of their embeddings.

    `centre` [width] and `precision` [width, width], the inverse of the shrunk covariance, are of the training
    solutions; `bar` is the distance that QUANTILE of `solutions` calibration solutions keep below.
    """

    centre: list[float]
    precision: list[list[float]]
    bar: float
    quantile: float
    solutions: int

    def distance(self, embedding: Sequence[float]) -> float:
        """Mahalanobis distance of an embedding [width] to the training solutions (Lee et al. 2018, equation 2)."""
        away = np.asarray(embedding) - self.centre
        return float(math.sqrt(max(0.0, away @ np.asarray(self.precision) @ away)))


class AbstentionBar(msgspec.Struct, frozen=True):
    """The uncertainty above which a verdict is withheld, so that `target` of those given are right.

    `bar` is None where no bar reaches the target with CONFIDENCE: then every verdict is withheld. `coverage` and
    `accuracy` are those of the verdicts given on the `solutions` of the calibration split, `accuracy_without` that of
    all.
    """

    target: float
    confidence: float
    bar: float | None
    coverage: float
    accuracy: float | None
    accuracy_without: float
    solutions: int

    def withholds(self, uncertainty: float | None) -> bool:
        """Whether a verdict of this uncertainty is withheld; None is a verdict that could not be reached."""
        return uncertainty is None or self.bar is None or uncertainty > self.bar


class Trust(msgspec.Struct, frozen=True):
    """The bars of one model; None for one that there was too little to fit on."""

    domain: DomainBar | None = None
    abstention: AbstentionBar | None = None


def verdict(
    heads: Sequence[Sequence[float] | None], mean: Sequence[float | None], threshold: float
) -> tuple[int | None, float | None]:
    """The first step whose mean is below the threshold (-1: none), and the probability that this is wrong.

    `heads` has p(good | good prefix) of each head for each step. The probability is 1 - mean_m q_m(verdict), with
    q_m(k) = (1 - p_mk) prod_{j<k} p_mj and q_m(none) = prod_j p_mj: one head stays one head across steps. Both are
    None where a step without a score comes before any suspicious one.
    """
    passed: Array = np.ones(1)
    for position, (each, p) in enumerate(zip(heads, mean, strict=True)):
        if each is None or p is None:
            return None, None
        if p < threshold:
            return position, float(1 - np.mean(passed * (1 - np.asarray(each))))
        passed = passed * np.asarray(each)
    return -1, float(1 - passed.mean())


def fit_domain(training: Array, held: Array) -> DomainBar | None:
    """The bar from embeddings [solutions, width]: distances to the training ones, quantile of the held ones."""
    if min(len(training), len(held)) < LEAST_SOLUTIONS:
        return None
    centre = training.mean(axis=0)
    precision = np.linalg.inv(shrunk_covariance(training - centre))
    fitted = DomainBar(centre.round(6).tolist(), precision.round(4).tolist(), 0.0, QUANTILE, len(held))
    bar = float(np.quantile([fitted.distance(one) for one in held], QUANTILE))
    return msgspec.structs.replace(fitted, bar=bar)


def shrunk_covariance(centred: Array) -> Array:
    """Covariance [width, width] drawn towards a multiple of the identity by as much as the sample is short of rows.

    Oracle approximating shrinkage (Chen et al. 2010, equation 23).
    """
    n, width = centred.shape
    sample = centred.T @ centred / n
    scale = np.trace(sample) / width
    of_square, square_of = np.sum(sample**2), np.trace(sample) ** 2
    spherical = (n + 1 - 2 / width) * (of_square - square_of / width)
    share = 1.0 if spherical <= 0 else min(1.0, ((1 - 2 / width) * of_square + square_of) / spherical)
    floor = 1e-9 * max(scale, 1e-9)
    return (1 - share) * sample + (share * scale + floor) * np.eye(width)


def fit_abstention(uncertainty: Sequence[float], right: Sequence[bool], *, target: float) -> AbstentionBar | None:
    """The highest bar below which at least `target` of the verdicts are right, with CONFIDENCE.

    Selection with guaranteed risk (Geifman and El-Yaniv 2017, algorithm 1): a binary search over the bars, each
    held against the exact binomial bound at a confidence shared out among the steps of the search.
    """
    n = len(uncertainty)
    if n < LEAST_SOLUTIONS:
        return None
    order = np.argsort(np.asarray(uncertainty), kind="stable")
    values, wrong = np.asarray(uncertainty)[order], ~np.asarray(right)[order]
    errors = np.cumsum(wrong)
    steps = math.ceil(math.log2(n))
    low, high, kept = 0, n - 1, -1
    while low <= high:
        middle = (low + high) // 2
        end = int(np.searchsorted(values, values[middle], side="right"))  # equal ones are given together
        if error_bound(int(errors[end - 1]), end, (1 - CONFIDENCE) / max(1, steps)) <= 1 - target:
            kept, low = end, middle + 1
        else:
            high = middle - 1
    given = max(0, kept)
    return AbstentionBar(
        target=target,
        confidence=CONFIDENCE,
        bar=float(values[given - 1]) if given else None,
        coverage=given / n,
        accuracy=1 - float(errors[given - 1]) / given if given else None,
        accuracy_without=1 - float(errors[-1]) / n,
        solutions=n,
    )


def error_bound(errors: int, n: int, delta: float) -> float:
    """The error rate at which `errors` or fewer among `n` have probability `delta` (Clopper and Pearson 1934)."""
    low, high = errors / n, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        if _binomial_tail(errors, n, middle) > delta:
            low = middle
        else:
            high = middle
    return high


def _binomial_tail(most: int, n: int, p: float) -> float:
    """Probability of at most `most` among `n` at rate `p`."""
    if p <= 0 or most >= n:
        return 1.0
    if p >= 1:
        return 0.0
    start = math.lgamma(n + 1)
    logs = [
        start - math.lgamma(k + 1) - math.lgamma(n - k + 1) + k * math.log(p) + (n - k) * math.log1p(-p)
        for k in range(most + 1)
    ]
    return min(1.0, math.fsum(math.exp(value) for value in logs))
