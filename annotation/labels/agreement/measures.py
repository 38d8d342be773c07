"""The agreement in each group of labels, with its interval by solution. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from annotation.labels.agreement.coefficients import (
    Array,
    Coefficient,
    alpha,
    beyond_one,
    cohen,
    divide,
    fleiss,
    nominal,
    ordinal_alpha,
    share,
)
from prm.evaluation.metrics import Metric, as_metric, draws_of

Integers = NDArray[np.int64]
RESAMPLES, SEED = 1000, 17
BLOCKS = 1000  # of solutions; random groups of solutions vary as much as solutions do, and cost less
# With fewer, resamples understate how much agreement varies (research/agreement.md): solutions, or on average those
# of each pair of annotators whose kappa enters a mean.
LEAST_SOLUTIONS = 20
UNKNOWN = Metric(None, None, None)


@dataclass(frozen=True)
class Values:
    """Labels of units: the category, from 0, that each rater gave to a unit. `solution` [units] is from 0 too.

    `meanings` are the positions or the ratings that the categories stand for, in order.
    """

    unit: Integers
    rater: Integers
    category: Integers
    solution: Integers
    meanings: Sequence[int]

    @property
    def counts(self) -> Array:
        """The number of labels [units, categories]."""
        categories = len(self.meanings)
        cells = np.bincount(self.unit * categories + self.category, minlength=len(self.solution) * categories)
        return cells.reshape(len(self.solution), categories).astype(float)


@dataclass(frozen=True)
class Measure:
    """A coefficient of first errors or of step ratings; `of_two` for one that is defined for two raters only."""

    of: Literal["first_errors", "steps"]
    coefficient: Callable[[Sequence[int]], Coefficient]
    of_two: bool = False


def _nominal(meanings: Sequence[int]) -> Array:
    return nominal(len(meanings))


MEASURES: dict[str, Measure] = {
    "exact": Measure("first_errors", lambda meanings: share(_nominal(meanings))),
    "within_one": Measure("first_errors", lambda meanings: share(beyond_one(meanings))),
    "exact_alpha": Measure("first_errors", lambda meanings: alpha(_nominal(meanings))),
    "within_one_alpha": Measure("first_errors", lambda meanings: alpha(beyond_one(meanings))),
    "exact_kappa": Measure("first_errors", lambda meanings: cohen(_nominal(meanings)), of_two=True),
    "exact_fleiss": Measure("first_errors", lambda _: fleiss()),
    "steps_alpha": Measure("steps", lambda meanings: alpha(_nominal(meanings))),
    "steps_ordinal_alpha": Measure("steps", lambda meanings: ordinal_alpha(len(meanings))),
    "steps_kappa": Measure("steps", lambda meanings: cohen(_nominal(meanings)), of_two=True),
    "steps_fleiss": Measure("steps", lambda _: fleiss()),
}


class Pairs(NamedTuple):
    """Every two labels of one unit, as places in its Values: `one` has the smaller rater."""

    one: Integers
    other: Integers


def pairs_of(values: Values) -> Pairs:
    order = np.lexsort((values.rater, values.unit))
    sizes = np.bincount(values.unit, minlength=len(values.solution))
    starts = np.cumsum(sizes) - sizes
    ones, others = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)]
    for size in np.unique(sizes[sizes > 1]):
        low, high = np.triu_indices(size, 1)
        first = starts[sizes == size][:, None]
        ones.append((first + low).ravel())
        others.append((first + high).ravel())
    return Pairs(order[np.concatenate(ones)], order[np.concatenate(others)])


class Measured(NamedTuple):
    """The agreement in a group, and the number of pairs of labels that it compares."""

    agreement: Metric
    pairs: int


class Groups(NamedTuple):
    """The group, from 0, of each unit or each pair; -1 for none. `solutions` are those of all groups together."""

    number: int
    of: Integers
    solutions: int


def agreement_of_all(values: Values, measure: Measure, groups: Groups, *, resamples: int = RESAMPLES) -> list[Measured]:
    """The agreement of all raters in each group of units."""
    counts = values.counts
    chosen = (groups.of >= 0) & (counts.sum(axis=1) > 1)
    counts, of = counts[chosen], groups.of[chosen]
    pairs = counts.sum(axis=1) * (counts.sum(axis=1) - 1) / 2
    coefficient = measure.coefficient(values.meanings)
    rows = np.column_stack([coefficient.rows(counts), pairs])
    parts = np.zeros(len(of), dtype=np.int64)
    return _measured(coefficient, rows, groups._replace(of=of), parts, values.solution[chosen], resamples)


def agreement_of_two(
    values: Values, measure: Measure, pairs: Pairs, groups: Groups, *, resamples: int = RESAMPLES
) -> list[Measured]:
    """The agreement in each group of pairs of labels, each of which counts as a unit with two labels.

    If a group has several pairs of raters, Cohen's kappa is their mean as in R. J. Light (Psychol. Bull. 76, 1971),
    weighted by the number of units that both raters labelled.
    """
    chosen = groups.of >= 0
    one, other = pairs.one[chosen], pairs.other[chosen]
    raters, who = np.unique(np.stack([values.rater[one], values.rater[other]]), return_inverse=True)
    first, second = who.reshape(2, -1)
    labels = np.eye(len(values.meanings))
    left, right = labels[values.category[one]], labels[values.category[other]]
    coefficient = measure.coefficient(values.meanings)
    rows = coefficient.rows(np.hstack([left, right]) if measure.of_two else left + right)
    rows = np.column_stack([rows, np.ones(len(rows))])
    parts = first * len(raters) + second if measure.of_two else np.zeros(len(one), dtype=np.int64)
    groups, solution = groups._replace(of=groups.of[chosen]), values.solution[values.unit[one]]
    return _measured(coefficient, rows, groups, parts, solution, resamples)


def _measured(
    coefficient: Coefficient, rows: Array, groups: Groups, parts: Integers, solution: Integers, resamples: int
) -> list[Measured]:
    """The mean coefficient of the parts of each group, weighted by the last column of `rows`, the pairs of labels."""
    blocks = min(groups.solutions, BLOCKS)
    draws = _draws(blocks, resamples)
    block = (np.random.default_rng(SEED).permutation(groups.solutions) % max(blocks, 1))[solution]
    many = parts.max(initial=0) + 1
    keys, key = np.unique(groups.of * many + parts, return_inverse=True)
    places = np.bincount(np.unique(key * len(draws) + block) // len(draws), minlength=len(keys))
    measured = [Measured(UNKNOWN, 0)] * groups.number
    for group, of_group in groupby(_resampled(rows, key, block, draws), lambda part: int(keys[part[0]] // many)):
        weighted, weights, pairs = np.zeros(resamples + 1), np.zeros(resamples + 1), 0.0
        on = []  # the solutions of each part, or their blocks
        for number, sums in of_group:
            on.append(places[number])
            value, weight = coefficient.value(sums[:, :-1]), sums[:, -1]
            known = ~np.isnan(value)
            weighted[known] += value[known] * weight[known]
            weights[known] += weight[known]
            pairs += weight[0]
        measured[group] = Measured(_metric(divide(weighted, weights), float(np.mean(on))), round(pairs))
    return measured


def _metric(samples: Array, places: float) -> Metric:
    """The value with its interval, unless it has too few solutions, or all resamples are the same."""
    metric = as_metric(samples)
    if places < LEAST_SOLUTIONS or metric.low == metric.high:
        return Metric(metric.value, None, None)
    return metric


def _resampled(rows: Array, group: Integers, block: Integers, draws: Array) -> Iterator[tuple[int, Array]]:
    """The number of each group, and the sums [1 + resamples, columns] of its rows; the first are of all blocks once."""
    if not len(rows):
        return
    key = group * len(draws) + block
    order = np.argsort(key, kind="stable")
    key, starts = np.unique(key[order], return_index=True)
    summed = np.add.reduceat(rows[order], starts, axis=0)
    numbers, begins = np.unique(key // len(draws), return_index=True)
    for number, begin, end in zip(numbers, begins, [*begins[1:], len(key)], strict=True):
        part = summed[begin:end]
        drawn = part.astype(np.float32).T @ draws[key[begin:end] % len(draws)]
        yield int(number), np.vstack([part.sum(axis=0), drawn.T[1:]])


@lru_cache(maxsize=1)
def _draws(blocks: int, resamples: int) -> Array:
    """How often each resample has each block of solutions: [blocks, 1 + resamples]."""
    return np.ascontiguousarray(draws_of(blocks, resamples, SEED).T)
