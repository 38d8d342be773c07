"""Forecasts the quality of a step's label by the number of people who rate it. Pure.

The people of a step are drawn by their shares of the labels, and their errors are first taken as independent, given the
truth. Steps that everybody misjudges make the truth worse, and only steps whose rating is known show by how much: this
loss is the difference between what independent errors promise for those steps and what was measured on them, never
below 0. It is taken to be about the same for every number of people.
"""

from collections.abc import Sequence
from itertools import product
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from annotation.core.bounds import about
from annotation.labels.planning.bands import Array, Band, band_of

DRAWS, GROUPS = 200, 50
MOST = 3
MOST_KNOWN = 6  # opinions on a known step; more of them hardly change the promise
VARIES = 0.015  # standard deviation of the shared loss between numbers of people
SEED = 21


class Rater(NamedTuple):
    """A person with their share of the labels, and the shares of bad steps and of others that they call bad.

    Each of the two is a mean with its standard error.
    """

    share: float
    finds: tuple[float, float]
    invents: tuple[float, float]


class LabelQuality(msgspec.Struct, frozen=True):
    """The share of steps with the `right` label, with this number of `opinions`."""

    opinions: Annotated[int, about("How many people rate each step.")]
    right: Annotated[Band, about("The share of steps with the right label.")]


class Known(NamedTuple):
    """The share of known steps with the `right` label, a mean and its standard error, with so many `opinions` each."""

    right: tuple[float, float]
    opinions: float


def quality_by_opinions(raters: Sequence[Rater], bad: float, known: Known) -> list[LabelQuality]:
    """The quality for 1 to MOST opinions, as far as there are people; `bad` is the share of bad steps."""
    random = np.random.default_rng(SEED)
    most = int(sum(rater.share > 0 for rater in raters))
    promised = _promised(raters, bad, random, min(most, MOST_KNOWN))
    if not promised:
        return []
    right, error = known.right
    measured = random.normal(right, np.hypot(error, VARIES), DRAWS)
    shared = np.maximum(promised[min(max(round(known.opinions), 1), len(promised)) - 1] - measured, 0)
    return [
        LabelQuality(number, band_of(np.clip(right - shared, 0, 1))) for number, right in enumerate(promised[:MOST], 1)
    ]


def _promised(raters: Sequence[Rater], bad: float, random: np.random.Generator, most: int) -> list[Array]:
    """Draws [DRAWS] of the share of right labels for 1 to `most` opinions, if errors are independent."""
    finds, invents = (_drawn(random, [getattr(rater, name) for rater in raters]) for name in ("finds", "invents"))
    shares = np.array([rater.share for rater in raters])
    promised = []
    for opinions in range(1, most + 1):
        groups = np.array(
            [random.choice(len(raters), opinions, replace=False, p=shares / shares.sum()) for _ in range(GROUPS)]
        )
        right = np.zeros(DRAWS)
        for votes in product((True, False), repeat=opinions):
            if_bad = bad * _chance(finds[:, groups], votes)
            if_not = (1 - bad) * _chance(invents[:, groups], votes)
            right += np.maximum(if_bad, if_not).mean(axis=1)
        promised.append(right)
    return promised


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
