"""Forecasts a model's F1 after more labels from the models that earlier rounds trained. Pure.

The share that is missing to a perfect F1 is taken to fall as a power of the number of labels n towards a floor,
a + b (n / n₁)^-c, where n₁ are the labels of the first model. Every combination of a floor, an exponent and a spread of
single models around the curve is weighted by its likelihood; b is integrated out.
"""

from collections.abc import Sequence
from typing import Annotated, NamedTuple

import msgspec
import numpy as np

from annotation.core.bounds import about
from annotation.labels.planning.bands import Array, Band, band_of

LEAST = 3  # models on different numbers of labels
DRAWS = 4000
SEED = 22
FLOORS = np.linspace(0.0, 1.0, 41)
EXPONENTS = np.linspace(0.1, 2.0, 20)
SPREADS = np.array([0.01, 0.02, 0.03, 0.045, 0.06, 0.075, 0.09, 0.12])
BENT = 2.0  # spreads of single models that a curve is off by, for each doubling of the labels
FAR = 50.0  # times the labels so far: beyond, no forecast is made


class Trained(msgspec.Struct, frozen=True, order=True):
    """A model: how many labels it learned from, and its F1 on the holdout, in [0, 1]."""

    labels: Annotated[int, about("How many labels it learned from.")]
    f1: Annotated[float, about("Its F1 on the holdout.")]


class ModelForecast(msgspec.Struct, frozen=True):
    """The F1 of a model trained on `labels`, and its gain over the latest one, from `models` models."""

    labels: Annotated[int, about("How many labels it would learn from.")]
    f1: Annotated[Band, about("Its F1 on the holdout.")]
    gain: Annotated[Band, about("Its gain over the model with the most labels so far.")]
    models: Annotated[int, about("Number of models that the forecast is made from.")]


class Curve(NamedTuple):
    """Equally likely curves: arrays [DRAWS] of floors, slopes, exponents and spreads."""

    trained: list[Trained]
    floor: Array
    slope: Array
    exponent: Array
    spread: Array

    def missing(self, labels: float) -> Array:
        """What is missing to a perfect F1 on average, [DRAWS]."""
        missing: Array = self.floor + self.slope * (labels / self.trained[0].labels) ** -self.exponent
        return missing

    def after(self, labels: int) -> ModelForecast:
        """The forecast for a model trained on `labels` in all."""
        latest = self.trained[-1].labels
        random = np.random.default_rng(SEED)
        noise = random.standard_normal((2, DRAWS)) * self.spread
        noise[0] += random.standard_normal(DRAWS) * BENT * self.spread * np.log2(labels / latest)
        f1 = np.clip(1 - self.missing(labels) + noise[0], 0, 1)
        gain = self.missing(latest) - self.missing(labels) + noise[0] - noise[1]
        return ModelForecast(labels, band_of(f1), band_of(gain), len(self.trained))

    def labels_for(self, f1: float) -> Band | None:
        """How many labels in all bring this F1 on average; None if it is reached too rarely to say.

        A bound of infinity is written as FAR times the labels of the latest model.
        """
        room = 1 - f1 - self.floor
        with np.errstate(divide="ignore", invalid="ignore"):
            needed = self.trained[0].labels * (self.slope / room) ** (1 / self.exponent)
        most = FAR * self.trained[-1].labels
        needed = np.where((room > 0) & (needed < most), needed, most)
        return band_of(needed) if np.median(needed) < most else None


def fit_curve(trained: Sequence[Trained]) -> Curve | None:
    """The curves that fit the models; None for fewer than LEAST numbers of labels."""
    ordered = sorted(trained)
    if len({model.labels for model in ordered}) < LEAST:
        return None
    labels, f1 = np.array([(model.labels, model.f1) for model in ordered], float).T
    floor, exponent, spread = (grid.ravel() for grid in np.meshgrid(FLOORS, EXPONENTS, SPREADS, indexing="ij"))
    fall = (labels / labels[0]) ** -exponent[:, None]
    above = 1 - f1 - floor[:, None]
    squares = (fall**2).sum(axis=1)
    best = (fall * above).sum(axis=1) / squares
    wide = spread / np.sqrt(squares)
    misfit = ((above - best[:, None] * fall) ** 2).sum(axis=1)
    likelihood = -(len(labels) - 1) * np.log(spread) - np.log(squares) / 2 - misfit / (2 * spread**2)
    likelihood = np.where(best > -2 * wide, likelihood, -np.inf)  # the slope is not negative
    chance = np.exp(likelihood - likelihood.max())
    random = np.random.default_rng(SEED)
    drawn = random.choice(len(chance), DRAWS, p=chance / chance.sum())
    slope = np.abs(best[drawn] + wide[drawn] * random.standard_normal(DRAWS))
    return Curve(ordered, floor[drawn], slope, exponent[drawn], spread[drawn])
