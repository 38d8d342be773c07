"""Agreement in groups of labels, with its interval by solution."""

import numpy as np
import pytest

from annotation.labels.agreement.measures import (
    BLOCKS,
    LEAST_SOLUTIONS,
    MEASURES,
    Groups,
    Values,
    _draws,
    agreement_of_all,
    agreement_of_two,
    pairs_of,
)


def of_table(table: list[list[int | None]], solution: list[int] | None = None) -> Values:
    """Units in rows, raters in columns; each unit is a solution of its own unless they are named."""
    known = [
        (unit, rater, value) for unit, row in enumerate(table) for rater, value in enumerate(row) if value is not None
    ]
    unit, rater, value = (np.array(column) for column in zip(*known, strict=True))
    meanings, category = np.unique(value, return_inverse=True)
    return Values(unit, rater, category, np.array(solution or range(len(table))), meanings.tolist())


def simulated(solutions: int, raters: int, *, steps: int = 4, seed: int = 0) -> Values:
    rng = np.random.default_rng(seed)
    truth = np.repeat(rng.integers(0, 3, (solutions * steps, 1)), raters, axis=1)
    guessed = np.where(rng.random(truth.shape) < 0.7, truth, rng.integers(0, 3, truth.shape))
    return of_table(guessed.tolist(), solution=np.repeat(np.arange(solutions), steps).tolist())


def everything(values: Values) -> Groups:
    return Groups(1, np.zeros(len(values.solution), dtype=np.int64), int(values.solution.max()) + 1)


@pytest.mark.parametrize("name", ["exact_kappa", "steps_kappa", "exact", "within_one"])
def test_kappa_is_the_mean_over_pairs_of_raters_as_a_share_is(name):
    values = of_table([[0, 0, 3], [3, 3, None], [0, 3, 0], [3, 0, None], [3, 3, 3]])
    pairs = pairs_of(values)
    one, other = values.rater[pairs.one], values.rater[pairs.other]
    apart = agreement_of_two(values, MEASURES[name], pairs, Groups(9, one * 3 + other, 5))
    [(mean, compared)] = agreement_of_two(values, MEASURES[name], pairs, Groups(1, one * 0, 5))
    known = [of for of in apart if of.agreement.value is not None]
    assert compared == sum(of.pairs for of in known) == 11
    expected = sum((of.agreement.value or 0) * of.pairs for of in known) / 11
    assert mean.value == pytest.approx(expected)


@pytest.mark.parametrize("name", [name for name, measure in MEASURES.items() if not measure.of_two])
def test_two_raters_agree_as_all_raters_do_if_there_are_two(name):
    values = simulated(40, 2)
    pairs = pairs_of(values)
    [together] = agreement_of_all(values, MEASURES[name], everything(values))
    [apart] = agreement_of_two(values, MEASURES[name], pairs, Groups(1, pairs.one * 0, 40))
    assert apart.pairs == together.pairs == 160
    assert (apart.agreement.value, apart.agreement.low, apart.agreement.high) == pytest.approx(
        (together.agreement.value, together.agreement.low, together.agreement.high), abs=1e-5
    )


def test_groups_are_measured_apart_and_units_without_a_group_nowhere():
    values = of_table([[0, 0], [0, 1], [1, 1], [0, 0], [1, None]])
    groups = Groups(3, np.array([0, 0, 1, -1, 1]), 5)
    measured = agreement_of_all(values, MEASURES["exact"], groups)
    assert [(one.agreement.value, one.pairs) for one in measured] == [(0.5, 2), (1.0, 1), (None, 0)]


def test_an_interval_resamples_solutions_and_not_their_steps():
    """Steps that repeat within a solution tell nothing new, so that the interval stays as wide as with one step."""
    rng = np.random.default_rng(5)
    single = of_table(rng.integers(0, 2, (60, 2)).tolist())
    repeated = of_table(np.repeat(np.stack([single.category[::2], single.category[1::2]], 1), 9, axis=0).tolist(),
                        solution=np.repeat(np.arange(60), 9).tolist())  # fmt: skip
    widths = []
    for values in (single, repeated):
        [of] = agreement_of_all(values, MEASURES["exact"], everything(values))
        assert of.agreement.low is not None
        assert of.agreement.high is not None
        widths.append(of.agreement.high - of.agreement.low)
    assert widths[1] == pytest.approx(widths[0], abs=1e-6)


def test_random_groups_of_many_solutions_give_the_interval_of_the_solutions():
    """5,000 solutions are resampled in 1,000 groups: the width is the textbook's for a share, up to noise."""
    rng = np.random.default_rng(3)
    same = rng.random(5000) < 0.8
    values = of_table(np.stack([np.ones(5000, dtype=int), same.astype(int)], axis=1).tolist())
    [of] = agreement_of_all(values, MEASURES["exact"], everything(values))
    assert of.agreement.low is not None
    assert of.agreement.high is not None
    assert of.agreement.high - of.agreement.low == pytest.approx(2 * 1.96 * (0.8 * 0.2 / 5000) ** 0.5, rel=0.1)


def test_only_one_table_of_resamples_is_kept_however_the_number_of_solutions_grows():
    _draws.cache_clear()
    for solutions in (BLOCKS, BLOCKS + 1, BLOCKS + 500):
        values = of_table([[0, 0], [0, 1]] * (solutions // 2))
        agreement_of_all(values, MEASURES["exact"], Groups(1, np.zeros(len(values.solution), dtype=int), solutions))
    cached = _draws.cache_info()
    assert (cached.misses, cached.hits, cached.maxsize) == (1, 2, 1)


@pytest.mark.parametrize(
    "table", [[[0, 1], [0, 0]] * (LEAST_SOLUTIONS // 2 - 1), [[0, 0]] * 40], ids=["few solutions", "all the same"]
)
def test_no_interval_rather_than_a_false_one(table):
    values = of_table(table)
    [of] = agreement_of_all(values, MEASURES["exact"], everything(values))
    assert of.agreement.value is not None
    assert (of.agreement.low, of.agreement.high) == (None, None)
