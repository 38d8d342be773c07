"""The reliability of a score: the uncertainty of its verdict, whether the text is familiar, and when to abstain.

Both limits are fitted on the calibration split after training and stored in the manifest as plain numbers. numpy only.
"""

import math
from collections.abc import Sequence

import msgspec
import numpy as np
from numpy.typing import NDArray

from prm.scores import Aggregate, TraceScore, aggregate
from prm.threshold import Threshold

Array = NDArray[np.float64]
FALSE_ALARMS = 0.05  # share of familiar solutions that may be flagged
MOST_LENGTHS = 32  # numbers of steps with their own limits, so that a manifest stays small
CONFIDENCE = 0.9  # of the bound on the accuracy below the abstention limit
LEAST_SOLUTIONS = 20  # with fewer, nothing is fitted


class DomainBar(msgspec.Struct, frozen=True):
    """The limits beyond which a solution is unlike the training data.

    Two quantities have a limit for solutions of 1, 2, ... steps (the last limit also holds for longer ones). One is the
    Mahalanobis distance under `precision` [width, width] between the mean of the step features and `centres` [lengths,
    width], the mean of training solutions truncated to this length. The other is the backbone's surprisal
    (`surprisal_bars`, None for a model without statistics). The limits are set on `solutions` calibration solutions,
    truncated to each length, so that a share `false_alarms` of familiar ones exceeds one of them.
    """

    centres: list[list[float]]
    precision: list[list[float]]
    distance_bars: list[float]
    surprisal_bars: list[float] | None
    false_alarms: float
    solutions: int

    def distance(self, marks: Array) -> float | None:
        """The distance of these steps from the training solutions: above 1 is out of domain, None without steps.

        It is the larger of the two quantities in units of its limit. `marks` [steps, width + 1] are projected features,
        with each step's surprisal in the last column.
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
    """The uncertainty above which the model abstains, so that a share `target` of its verdicts is right.

    `bar` is None if no limit reaches the target with CONFIDENCE: then every verdict is withheld. `coverage` and
    `accuracy` are of the verdicts below the limit on the `solutions` of the calibration split, and `accuracy_without`
    is of all verdicts.
    """

    target: float
    confidence: float
    bar: float | None
    coverage: float
    accuracy: float | None
    accuracy_without: float
    solutions: int

    def withholds(self, uncertainty: float | None) -> bool:
        """Whether a verdict of this uncertainty is withheld; None means that there is no verdict."""
        return uncertainty is None or self.bar is None or uncertainty > self.bar


class Trust(msgspec.Struct, frozen=True):
    """The limits of one model; None if there was too little data to fit them."""

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
    heads: Sequence[Sequence[float] | None], mean: Sequence[float | None], threshold: Threshold
) -> tuple[int | None, float | None]:
    """The first step whose mean is below the threshold (-1: none), and the probability that this is wrong.

    `heads` has p(good | good prefix) of each head for each step. The probability is 1 - mean_m q_m(verdict), with
    q_m(k) = (1 - p_mk) prod_{j<k} p_mj and q_m(none) = prod_j p_mj, where m is the same head at every step. Both are
    None if a step without a score precedes the first suspicious one.
    """
    passed: Array = np.ones(1)
    bar = threshold.at(len(mean))
    for position, (each, p) in enumerate(zip(heads, mean, strict=True)):
        if each is None or p is None:
            return None, None
        if p < bar:
            return position, float(1 - np.mean(passed * (1 - np.asarray(each))))
        passed = passed * np.asarray(each)
    return -1, float(1 - passed.mean())


class Scored(msgspec.Struct):
    """One solution's scores; `mean` and `spread` have one entry per step, None if it was not scored.

    `first_suspicious` is the first step below `threshold`, the model's for a solution of this length; -1 for none, None
    if a step without a score precedes it. `uncertainty` is the model's own probability that this verdict is wrong. A
    `distance` above 1 means that the text is unlike the training data (`out_of_domain`). The verdict is withheld
    (`abstained`) then, and if it is too uncertain. The flags are None if the model has no threshold for them.
    """

    mean: list[float | None]
    spread: list[float | None]
    score: float | None
    first_suspicious: int | None
    uncertainty: float | None
    out_of_domain: bool | None
    abstained: bool | None
    distance: float | None = None
    windowed: int = 0
    threshold: float | None = None


def judge(score: TraceScore, by: Aggregate, threshold: Threshold, trust: Trust | None) -> Scored:
    """The scores of a solution with the verdict on it; `by` aggregates its steps."""
    first, uncertainty = verdict(score.heads, score.mean, threshold)
    return Scored(
        mean=score.mean,
        spread=score.spread,
        score=aggregate(score.mean, by),
        first_suspicious=first,
        uncertainty=uncertainty,
        out_of_domain=is_foreign(score.distance),
        abstained=trust.withholds(uncertainty, score.distance) if trust else None,
        distance=score.distance,
        windowed=score.windowed,
        threshold=threshold.at(len(score.mean)),
    )


def fit_domain(training: Sequence[Array], held: Sequence[Array]) -> DomainBar | None:
    """The domain limits from solutions' marks [steps, width + 1]: centres from the training part, limits from `held`.

    The first steps of a solution vary more than its mean and differ from it, so every length that LEAST_SOLUTIONS of
    each part reach has its own centre and limits. A limit is a conformal quantile (Vovk et al. 2005), and the two
    quantities share the false alarms evenly.
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
    """The value that a new one exceeds with at most probability `above`; the largest if there are too few values."""
    rank = math.ceil((len(values) + 1) * (1 - above))
    return float(max(1e-9, sorted(values)[min(rank, len(values)) - 1]))


def _short(values: Sequence[float] | Array) -> list[float]:
    """The values to six digits, which suffice for a limit and halve the text."""
    return [float(f"{value:.6g}") for value in values]


def shrunk_covariance(centred: Array) -> Array:
    """Covariance [width, width], shrunk towards a multiple of the identity, more so with fewer rows.

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
    """The highest limit below which at least `target` of the verdicts are right, with CONFIDENCE.

    Selection with guaranteed risk (Geifman and El-Yaniv 2017, algorithm 1): a binary search over the limits, each
    tested against the exact binomial bound at a confidence shared among the steps of the search.
    """
    n = len(uncertainty)
    if n < LEAST_SOLUTIONS:
        return None
    order = np.argsort(np.asarray(uncertainty), kind="stable")
    values, wrong = np.asarray(uncertainty)[order], ~np.asarray(right)[order]
    errors = np.cumsum(wrong)
    steps = n.bit_length()  # of a binary search over n limits, at most
    low, high, n_given = 0, n - 1, 0
    while low <= high:
        middle = (low + high) // 2
        end = int(np.searchsorted(values, values[middle], side="right"))  # equal values are on one side of a limit
        if error_bound(int(errors[end - 1]), end, (1 - CONFIDENCE) / steps) <= 1 - target:
            n_given, low = end, middle + 1
        else:
            high = middle - 1
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
