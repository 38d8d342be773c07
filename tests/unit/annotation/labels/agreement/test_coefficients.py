"""Coefficients against published worked examples, and where those are silent, against the definition by pairs."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.agreement.coefficients import (
    Coefficient,
    alpha,
    beyond_one,
    cohen,
    fleiss,
    nominal,
    ordinal_alpha,
    share,
)

# K. Krippendorff, "Computing Krippendorff's Alpha-Reliability" (2011), sections C and D: four observers, twelve units.
FOUR_BY_TWELVE = """
1 2 3 3 2 1 4 1 2 . . .
1 2 3 3 2 2 4 1 2 5 . 3
. 3 3 3 2 3 4 2 2 5 1 .
1 2 3 3 2 4 4 1 2 5 1 .
"""
# J. L. Fleiss, "Measuring Nominal Scale Agreement Among Many Raters" (1971), table 1: 30 patients, six raters.
DIAGNOSES = """
0 0 0 6 0
0 3 0 0 3
0 1 4 0 1
0 0 0 0 6
0 3 0 3 0
2 0 4 0 0
0 0 4 0 2
2 0 3 1 0
2 0 0 4 0
0 0 0 0 6
1 0 0 5 0
1 1 0 4 0
0 3 3 0 0
1 0 0 5 0
0 2 0 3 1
0 0 5 0 1
3 0 0 1 2
5 1 0 0 0
0 2 0 4 0
1 0 2 0 3
0 0 0 0 6
0 1 0 5 0
0 2 0 1 3
2 0 0 4 0
1 0 0 4 1
0 5 0 1 0
4 0 0 0 2
0 2 0 4 0
1 0 5 0 0
0 0 0 0 6
"""
# The article "Fleiss' kappa" of Wikipedia: ten units, 14 raters.
FOURTEEN_RATERS = """
0 0 0 0 14
0 2 6 4 2
0 0 3 5 6
0 3 9 2 0
2 2 8 1 1
7 7 0 0 0
3 2 6 3 0
2 5 3 2 2
6 5 2 1 0
0 2 2 3 7
"""


def table(text: str) -> np.ndarray:
    return np.array([line.split() for line in text.strip().splitlines()], dtype=float)


def counted(text: str) -> np.ndarray:
    rows = [line.split() for line in text.strip().splitlines()]
    values = sorted({value for row in rows for value in row} - {"."})
    return np.array([[column.count(value) for value in values] for column in zip(*rows, strict=True)], dtype=float)


def of(coefficient: Coefficient, counts: np.ndarray) -> float:
    return float(coefficient.value(coefficient.rows(counts).sum(axis=0)))


def test_krippendorff_2011_with_missing_labels():
    counts = counted(FOUR_BY_TWELVE)
    assert of(alpha(nominal(5)), counts) == pytest.approx(0.743, abs=5e-4)
    assert of(ordinal_alpha(5), counts) == pytest.approx(0.815, abs=5e-4)


def test_krippendorff_2011_of_two_observers():
    # Section A: binary, .095; section B: nominal, .692.
    binary = counted("0 1 0 0 0 0 0 0 1 0\n1 1 1 0 0 1 0 0 0 0")
    assert of(alpha(nominal(2)), binary) == pytest.approx(0.095, abs=5e-4)
    letters = counted("a a b b d c c c e d d a\nb a b b b c c c e d d d")
    assert of(alpha(nominal(5)), letters) == pytest.approx(0.692, abs=5e-4)


def test_fleiss_1971_of_patients_and_psychiatrists():
    assert table(DIAGNOSES).sum(axis=0).tolist() == [26, 26, 30, 55, 43]
    assert of(fleiss(), table(DIAGNOSES)) == pytest.approx(0.430, abs=5e-4)
    assert of(fleiss(), table(FOURTEEN_RATERS)) == pytest.approx(0.210, abs=5e-4)


def test_cohen_1960_of_two_psychologists():
    # Table 1 of the paper, as counts of 200: kappa .492.
    confusion = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    one, other = np.divmod(np.repeat(np.arange(9), confusion.ravel()), 3)
    labels = np.hstack([np.eye(3)[one], np.eye(3)[other]])
    assert of(cohen(nominal(3)), labels) == pytest.approx(0.492, abs=5e-4)


def test_a_first_error_is_near_its_neighbours_and_none_is_near_nothing():
    assert beyond_one([-1, 0, 1, 2]).tolist() == [[0, 1, 1, 1], [1, 0, 0, 1], [1, 0, 0, 0], [1, 1, 0, 0]]


@pytest.mark.parametrize(
    ("first_errors", "pairs", "exact", "within_one"),
    [
        ([[3]], 0, np.nan, np.nan),
        ([[3, 3]], 1, 1, 1),
        ([[3, 4]], 1, 0, 1),
        ([[-1, 0]], 1, 0, 0),
        ([[-1, -1], [2, 5]], 2, 0.5, 0.5),
        ([[1, 1, 2]], 3, 1 / 3, 1),
    ],
)
def test_the_share_of_pairs_with_the_same_or_a_neighbouring_first_error(first_errors, pairs, exact, within_one):
    positions = sorted({error for of_solution in first_errors for error in of_solution})
    counts = np.array([[labels.count(at) for at in positions] for labels in first_errors], dtype=float)
    assert share(nominal(len(positions))).rows(counts)[:, 1].sum() == pairs
    assert of(share(nominal(len(positions))), counts) == pytest.approx(exact, nan_ok=True)
    assert of(share(beyond_one(positions)), counts) == pytest.approx(within_one, nan_ok=True)


units = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=4), min_size=1, max_size=8)


@given(units)
def test_alpha_is_one_minus_observed_over_expected_disagreement_of_pairs(labels):
    """By the definition: pairs within units, weighted by 1 / (m - 1), against pairs of any two paired labels."""
    paired = [of_unit for of_unit in labels if len(of_unit) > 1]
    everything = [label for of_unit in paired for label in of_unit]
    expected = [one != other for one, other in permutations(everything, 2)]
    counts = np.array([[of_unit.count(category) for category in range(3)] for of_unit in labels], dtype=float)
    if not any(expected):
        assert np.isnan(of(alpha(nominal(3)), counts))
        return
    observed = sum(
        (one != other) / (len(of_unit) - 1) for of_unit in paired for one, other in permutations(of_unit, 2)
    ) / len(everything)
    assert of(alpha(nominal(3)), counts) == pytest.approx(1 - observed / (sum(expected) / len(expected)))


@given(units)
def test_sums_of_resamples_are_values_of_repeated_units(labels):
    counts = np.array([[of_unit.count(category) for category in range(3)] for of_unit in labels], dtype=float)
    times = np.arange(len(labels)) % 3
    for coefficient in (alpha(nominal(3)), ordinal_alpha(3), fleiss(), share(nominal(3))):
        resampled = coefficient.value(times @ coefficient.rows(counts))
        assert resampled == pytest.approx(of(coefficient, np.repeat(counts, times, axis=0)), nan_ok=True)
