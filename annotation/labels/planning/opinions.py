"""Forecasts the quality of a step's label by the number of people who rate it. Pure.

The people of a step are drawn by their shares of the labels, and their errors are taken as independent, given the
truth. A step is called bad where that is more probable than not. Hard steps, which several people misjudge, make the
truth worse than this forecast.
"""

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import msgspec
import numpy as np

from annotation.labels.planning.bands import Array, Band, band_of

DRAWS, GROUPS = 200, 50
MOST = 3
SEED = 21


class Rater(NamedTuple):
    """A person with their share of the labels, and the shares of bad steps and of others that they call bad.

    Each of the two is a mean with its standard error.
    """

    share: float
    finds: tuple[float, float]
    invents: tuple[float, float]


class LabelQuality(msgspec.Struct, frozen=True):
    """With this number of `opinions`: the share of steps with the `right` label, and of bad steps that are `found`."""

    opinions: int
    right: Band
    found: Band


def quality_by_opinions(raters: Sequence[Rater], bad: float) -> list[LabelQuality]:
    """The quality for 1 to MOST opinions, as far as there are people; `bad` is the share of bad steps."""
    random = np.random.default_rng(SEED)
    finds, invents = (_drawn(random, [getattr(rater, name) for rater in raters]) for name in ("finds", "invents"))
    shares = np.array([rater.share for rater in raters])
    qualities = []
    for opinions in range(1, min(MOST, int((shares > 0).sum())) + 1):
        groups = np.array(
            [random.choice(len(raters), opinions, replace=False, p=shares / shares.sum()) for _ in range(GROUPS)]
        )
        right, found = np.zeros(DRAWS), np.zeros(DRAWS)
        for votes in product((True, False), repeat=opinions):
            if_bad = bad * _chance(finds[:, groups], votes)
            if_not = (1 - bad) * _chance(invents[:, groups], votes)
            right += np.maximum(if_bad, if_not).mean(axis=1)
            found += np.where(if_bad > if_not, if_bad, 0.0).mean(axis=1)
        qualities.append(LabelQuality(opinions, band_of(right), band_of(found / bad)))
    return qualities


def _drawn(random: np.random.Generator, estimates: Sequence[tuple[float, float]]) -> Array:
    """Draws [DRAWS, people] from the beta distribution with each mean and standard error."""
    mean, error = np.array(estimates).T
    mean = np.clip(mean, 0.001, 0.999)
    strength = np.maximum(mean * (1 - mean) / np.maximum(error, 1e-4) ** 2 - 1, 0.5)
    return random.beta(mean * strength, (1 - mean) * strength, (DRAWS, len(mean)))


def _chance(calls: Array, votes: Sequence[bool]) -> Array:
    """The probability [DRAWS, GROUPS] that the people of each group vote so; `calls` [DRAWS, GROUPS, people]."""
    chance: Array = np.where(np.array(votes), calls, 1 - calls).prod(axis=2)
    return chance
