"""Coefficients of agreement, computed for many resamples at once. Pure.

A coefficient has two halves: `rows` turns the labels of each unit (a solution, a step) into numbers that add up over
units, and `value` turns their sums [..., columns] into the coefficient [...]. A resample is then a product of matrices.
A coefficient is nan if the labels do not define it, for example if every label is the same.

`counts` [units, categories] are the numbers of labels, and `distance` [categories, categories] the disagreement of two
categories: symmetrical, from 0 to 1, and 0 on the diagonal. A unit with fewer than two labels has no weight.

- Share of agreeing pairs: not corrected for chance.
- Alpha: K. Krippendorff, Computing Krippendorff's Alpha-Reliability (2011); any number of labels per unit.
- Cohen's kappa: J. Cohen, Educ. Psychol. Meas. 20 (1960); two annotators.
- Fleiss' kappa: J. L. Fleiss, Psychol. Bull. 76 (1971). It is defined for the same number of labels on every unit.
  Otherwise each unit counts once, whatever its number of labels, while its labels set what is expected by chance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from prm.vocabulary import NO_ERROR

Array = NDArray[np.floating]


@dataclass(frozen=True)
class Coefficient:
    rows: Callable[[Array], Array]
    value: Callable[[Array], Array]


def nominal(categories: int) -> Array:
    """The distance that is 1 between any two categories."""
    return 1.0 - np.eye(categories)


def beyond_one(positions: Sequence[int]) -> Array:
    """The distance of first errors that is 0 up to one step apart; "no error" (-1) is never one step apart."""
    at = np.asarray(positions)
    near = (np.abs(at[:, None] - at) <= 1) & ((at[:, None] == at) | (np.minimum(at[:, None], at) != NO_ERROR))
    distance: Array = 1.0 - near
    return distance


def share(distance: Array) -> Coefficient:
    """The share of pairs of labels on one unit at distance 0."""

    def rows(counts: Array) -> Array:
        pairs = _pairs(counts)
        return np.column_stack([pairs - _differing(counts, distance), pairs])

    return Coefficient(rows, lambda sums: divide(sums[..., 0], sums[..., 1]))


def alpha(distance: Array) -> Coefficient:
    """Krippendorff's alpha."""

    def rows(counts: Array) -> Array:
        paired = counts * (counts.sum(axis=1, keepdims=True) > 1)
        others = np.maximum(counts.sum(axis=1) - 1, 1)
        return np.column_stack([2 * _differing(counts, distance) / others, paired])

    def value(sums: Array) -> Array:
        of = sums[..., 1:]
        expected = ((of @ distance) * of).sum(axis=-1)
        return 1 - divide((of.sum(axis=-1) - 1) * sums[..., 0], expected)

    return Coefficient(rows, value)


def ordinal_alpha(categories: int) -> Coefficient:
    """Krippendorff's alpha of ordered categories, whose distance is the number of labels between them, squared."""
    low, high = np.triu_indices(categories, 1)

    def rows(counts: Array) -> Array:
        paired = counts * (counts.sum(axis=1, keepdims=True) > 1)
        others = np.maximum(counts.sum(axis=1, keepdims=True) - 1, 1)
        return np.column_stack([counts[:, low] * counts[:, high] / others, paired])

    def value(sums: Array) -> Array:
        differing, of = sums[..., : len(low)], sums[..., len(low) :]
        up_to = np.cumsum(of, axis=-1)
        distance = (up_to[..., high] - of[..., high] / 2 - up_to[..., low] + of[..., low] / 2) ** 2
        expected = (of[..., low] * of[..., high] * distance).sum(axis=-1)
        return 1 - divide((of.sum(axis=-1) - 1) * (differing * distance).sum(axis=-1), expected)

    return Coefficient(rows, value)


def cohen(distance: Array) -> Coefficient:
    """Cohen's kappa of two annotators; `counts` [units, 2 · categories] has the first's label, then the second's."""
    categories = len(distance)

    def rows(counts: Array) -> Array:
        one, other = counts[:, :categories], counts[:, categories:]
        return np.column_stack([((one @ distance) * other).sum(axis=1), counts])

    def value(sums: Array) -> Array:
        one, other = sums[..., 1 : 1 + categories], sums[..., 1 + categories :]
        expected = ((one @ distance) * other).sum(axis=-1)
        return 1 - divide(one.sum(axis=-1) * sums[..., 0], expected)

    return Coefficient(rows, value)


def fleiss() -> Coefficient:
    """Fleiss' kappa."""

    def rows(counts: Array) -> Array:
        pairs = _pairs(counts)
        of = pairs > 0
        agreeing = (counts * (counts - 1)).sum(axis=1) / 2
        return np.column_stack([divide(agreeing, pairs, empty=0.0), of, counts * of[:, None]])

    def value(sums: Array) -> Array:
        observed, of = divide(sums[..., 0], sums[..., 1]), sums[..., 2:]
        expected = divide((of**2).sum(axis=-1), of.sum(axis=-1) ** 2)
        return divide(observed - expected, 1 - expected)

    return Coefficient(rows, value)


def _pairs(counts: Array) -> Array:
    """The number of pairs of labels on each unit."""
    of = counts.sum(axis=1)
    pairs: Array = of * (of - 1) / 2
    return pairs


def _differing(counts: Array, distance: Array) -> Array:
    """The sum of the distances of all pairs of labels on each unit."""
    differing: Array = ((counts @ distance) * counts).sum(axis=1) / 2
    return differing


def divide(of: Array, by: Array, *, empty: float = np.nan) -> Array:
    """of / by, and `empty` for division by 0."""
    of, by = np.broadcast_arrays(np.asarray(of, dtype=float), np.asarray(by, dtype=float))
    quotient: Array = np.divide(of, by, out=np.full(of.shape, empty), where=np.abs(by) > 1e-12)
    return quotient
