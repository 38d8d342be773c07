"""The reliability of a score: the uncertainty of its verdict, whether the text is familiar, and when to abstain.

Both bars are fitted on the calibration split once training is over, and stand in the manifest as plain numbers.
numpy only.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
FALSE_ALARMS = 0.05  # share of familiar solutions that may be flagged
MOST_LENGTHS = 32  # numbers of steps with bars of their own: a manifest stays small
CONFIDENCE = 0.9  # of the bound on the accuracy above the abstention bar
LEAST_SOLUTIONS = 20  # below it, nothing is fitted


class DomainBar(msgspec.Struct, frozen=True):
    """The limits beyond which a solution is unlike the training data.

    Two things are looked at, each with a bar for solutions of 1, 2, ... steps (the last bar is also for longer ones):
    how far the mean of the step features lies from `centres` [lengths, width], that of training solutions cut to this
    length, by the Mahalanobis distance under `precision` [width, width]; and how badly the backbone predicts the steps
    (`surprisal_bars`, None for a model that reads no statistics). `solutions` calibration solutions, cut to each
    length, set the bars, so that `false_alarms` of familiar ones lie above one of them.
    """

    centres: list[list[float]]
    precision: list[list[float]]
    distance_bars: list[float]
    surprisal_bars: list[float] | None
    false_alarms: float
    solutions: int

    def distance(self, marks: Array) -> float | None:
        """How unlike the training solutions the steps marked [steps, width + 1] are: above 1 is out of domain.

        The last column is each step's surprisal. The larger of the two quantities in units of its bar; None without
        steps.
        """
        if not len(marks):
            return None
        place = min(len(marks), len(self.centres)) - 1
        *mean, surprisal = marks.mean(axis=0)
        away = _length(np.asarray(mean) - self.centres[place], np.asarray(self.precision)) / self.distance_bars[place]
        if self.surprisal_bars is None:
            return away
        return max(away, float(surprisal) / self.surprisal_bars[place])


class AbstentionBar(msgspec.Struct, frozen=True):
    """The uncertainty above which the model abstains, so that `target` of its verdicts are right.

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

    def withholds(self, uncertainty: float | None, distance: float | None) -> bool | None:
        """Whether to abstain: out of domain, or too uncertain. None without limits."""
        if is_foreign(distance):
            return True
        return None if self.abstention is None else self.abstention.withholds(uncertainty)


def is_foreign(distance: float | None) -> bool | None:
    """Whether a solution at this `DomainBar.distance` is out of domain; None if unknown."""
    return None if distance is None else distance > 1


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


def fit_domain(training: Sequence[Array], held: Sequence[Array]) -> DomainBar | None:
    """The bars from solutions' marks [steps, width + 1]: what is usual by the training ones, bars by the held ones.

    The first steps of a solution vary more than its mean, and differ from it: hence a centre and bars for every length
    that LEAST_SOLUTIONS of each part reach. A bar is a conformal quantile (Vovk et al. 2005); the two share the false
    alarms evenly.
    """
    lengths = min(MOST_LENGTHS, _reached(training), _reached(held))
    if not lengths:
        return None
    taught, checked = (
        [marks.cumsum(axis=0) / np.arange(1, len(marks) + 1)[:, None] for marks in part] for part in (training, held)
    )
    centres = np.array([np.mean([each[n, :-1] for each in taught if len(each) > n], axis=0) for n in range(lengths)])
    away = [each[:, :-1] - centres[np.arange(len(each)).clip(max=lengths - 1)] for each in taught]
    precision: Array = np.linalg.inv(shrunk_covariance(np.concatenate(away))).astype(np.float64)
    read = not np.isnan(checked[0][0, -1])
    share = FALSE_ALARMS / (2 if read else 1)
    distances, surprisals = [], []
    for n in range(lengths):
        profiles = np.array([each[n] for each in checked if len(each) > n])
        distances.append(_quantile([_length(one, precision) for one in profiles[:, :-1] - centres[n]], share))
        surprisals.append(_quantile(profiles[:, -1].tolist(), share))
    return DomainBar(
        centres=[_short(row) for row in centres],
        precision=[_short(row) for row in precision],
        distance_bars=_short(distances),
        surprisal_bars=_short(surprisals) if read else None,
        false_alarms=FALSE_ALARMS,
        solutions=len(held),
    )


def _reached(solutions: Sequence[Array]) -> int:
    """The number of steps that LEAST_SOLUTIONS of them have."""
    steps = sorted(map(len, solutions), reverse=True)
    return steps[LEAST_SOLUTIONS - 1] if len(steps) >= LEAST_SOLUTIONS else 0


def _length(away: Array, precision: Array) -> float:
    """Mahalanobis length (Lee et al. 2018, equation 2)."""
    return math.sqrt(max(0.0, float(away @ precision @ away)))


def _quantile(values: Sequence[float], above: float) -> float:
    """The value that a fresh one exceeds with probability `above` at most; the largest, where there are too few."""
    rank = math.ceil((len(values) + 1) * (1 - above))
    return float(max(1e-9, sorted(values)[min(rank, len(values)) - 1]))


def _short(values: Sequence[float] | Array) -> list[float]:
    """To six digits, which is all that a bar needs of a number and half of its text."""
    return [float(f"{value:.6g}") for value in values]


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
    steps = n.bit_length()  # a binary search over n bars takes at most this many
    low, high, last = 0, n - 1, -1
    while low <= high:
        middle = (low + high) // 2
        end = int(np.searchsorted(values, values[middle], side="right"))  # equal ones are given together
        if error_bound(int(errors[end - 1]), end, (1 - CONFIDENCE) / steps) <= 1 - target:
            last, low = end, middle + 1
        else:
            high = middle - 1
    n_given = max(0, last)
    return AbstentionBar(
        target=target,
        confidence=CONFIDENCE,
        bar=float(values[n_given - 1]) if n_given else None,
        coverage=n_given / n,
        accuracy=1 - float(errors[n_given - 1]) / n_given if n_given else None,
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
