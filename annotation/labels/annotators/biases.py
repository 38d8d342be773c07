"""Compares a person's labels with the references on the same solutions, by features of the solutions. Pure.

A label's excess is 1 if it reports an error and its reference has none, -1 for the opposite, and 0 otherwise. A bias is
the mean excess on solutions with a feature minus the mean on others. Bias of position is the mean number of steps by
which the first error is later than the reference's. Bias by hints is how much more often the label agrees with the
model's verdict if the scores were shown.

Differences have B. L. Welch's test (Biometrika 34, 1947). Many people and features are looked at, so S. Holm's
procedure (Scand. J. Stat. 6, 1979) limits the chance of any false finding to LEVEL, and the intervals have its levels.
"""

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean, variance
from typing import Literal

from prm.intervals import student_quantile

LEVEL = 0.05
LEAST = 10  # labels with a feature, and without it

Measure = Literal["calls", "position", "hint"]


@dataclass(frozen=True)
class Compared:
    """A label by `who` beside its reference. `shift` is None unless both name an error; `follows` is None if the label
    had no part in the drawing of hints, and `hinted` is its arm. `features` are those that the solution has or lacks.
    """

    label: int
    who: str
    excess: int
    shift: int | None = None
    hinted: bool = False
    follows: bool | None = None
    features: Mapping[str, bool] = field(default_factory=dict)


@dataclass(frozen=True)
class Bias:
    """A difference with its interval: `with_feature` labels against `without` (0 for position, which has no others).

    `clear` if it differs from zero after the correction for the number of comparisons.
    """

    who: str
    measure: Measure
    feature: str
    with_feature: int
    without: int
    value: float
    low: float
    high: float
    clear: bool


@dataclass(frozen=True)
class _Difference:
    """A difference before the correction, with its standard error and degrees of freedom."""

    who: str
    measure: Measure
    feature: str
    with_feature: int
    without: int
    value: float
    error: float
    freedom: float

    @property
    def evidence(self) -> float:
        """The normal deviate as rare as this value of Student's t (D. L. Wallace, Ann. Math. Stat. 30, 1959)."""
        t, freedom = self.value / self.error, self.freedom
        return (8 * freedom + 1) / (8 * freedom + 3) * math.sqrt(freedom * math.log1p(t * t / freedom))


def biases_of(compared: Iterable[Compared]) -> list[Bias]:
    """The biases of all people with enough labels, largest evidence first."""
    by_person: dict[str, list[Compared]] = defaultdict(list)
    for label in compared:
        by_person[label.who].append(label)
    differences = sorted(
        (one for who, own in by_person.items() for one in _differences(who, own)),
        key=lambda one: (-one.evidence, one.who),
    )
    biases, rejected = [], True
    looks = len(differences)
    for number, one in enumerate(differences):
        if rejected:
            level = LEVEL / (looks - number)
        half = student_quantile(1 - level / 2, one.freedom) * one.error
        rejected = rejected and half <= abs(one.value)
        biases.append(
            Bias(
                who=one.who,
                measure=one.measure,
                feature=one.feature,
                with_feature=one.with_feature,
                without=one.without,
                value=one.value,
                low=one.value - half,
                high=one.value + half,
                clear=rejected,
            )
        )
    return biases


def _differences(who: str, own: Sequence[Compared]) -> Iterable[_Difference]:
    shifts = [float(one.shift) for one in own if one.shift is not None]
    if len(shifts) >= LEAST and (spread := variance(shifts)):
        error = math.sqrt(spread / len(shifts))
        yield _Difference(who, "position", "", len(shifts), 0, mean(shifts), error, len(shifts) - 1)
    for feature in sorted({name for one in own for name in one.features}):
        having = [float(one.excess) for one in own if one.features.get(feature) is True]
        lacking = [float(one.excess) for one in own if one.features.get(feature) is False]
        yield from _welch(who, "calls", feature, having, lacking)
    drawn = [one for one in own if one.follows is not None]
    shown = [float(bool(one.follows)) for one in drawn if one.hinted]
    blind = [float(bool(one.follows)) for one in drawn if not one.hinted]
    yield from _welch(who, "hint", "", shown, blind)


def _welch(
    who: str, measure: Measure, feature: str, having: Sequence[float], lacking: Sequence[float]
) -> Iterable[_Difference]:
    if min(len(having), len(lacking)) < LEAST:
        return
    parts = [(variance(some) / len(some), len(some)) for some in (having, lacking)]
    squared = sum(part for part, _ in parts)
    if squared:
        freedom = squared**2 / sum(part**2 / (n - 1) for part, n in parts)
        value = mean(having) - mean(lacking)
        yield _Difference(who, measure, feature, len(having), len(lacking), value, math.sqrt(squared), freedom)
