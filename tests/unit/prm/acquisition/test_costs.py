"""The cost of labelling: expected from the chance that steps are read, and learned from logged times."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.acquisition import CostModel, expected_cost, fit_cost
from prm.errors import DataError

COST = CostModel(fixed_seconds=10, seconds_per_step=2, seconds_per_char=0.1)


def test_counts_steps_by_the_chance_that_they_are_read() -> None:
    p = np.array([[0.8, 0.4], [0.5, 0.5]])
    assert expected_cost(p, [10, 20], COST) == pytest.approx(10 + 3 + 0.6 * 4)


def test_counts_every_step_where_every_step_is_rated() -> None:
    cost = CostModel(10, 2, 0.1, stops_at_error=False)
    assert expected_cost(np.array([[0.8, 0.4], [0.5, 0.5]]), [10, 20], cost) == pytest.approx(10 + 3 + 4)


def test_steps_without_a_score_do_not_count() -> None:
    assert expected_cost(np.zeros((0, 0)), [10], COST) == 10
    assert expected_cost(np.array([[0.8]]), [10, 99], COST) == pytest.approx(13)


def readings(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    steps = rng.integers(1, 15, n)
    chars = rng.integers(20, 120, n) * steps
    return 12 + 3 * steps + 0.04 * chars + rng.normal(0, 2, n), steps, chars


def test_finds_the_plane_behind_noisy_times_with_breaks() -> None:
    seconds, steps, chars = readings(400)
    seconds[::10] += 300  # a telephone call
    found = fit_cost(seconds, steps, chars)
    assert found.fixed_seconds == pytest.approx(12, abs=1.5)
    assert found.seconds_per_step == pytest.approx(3, rel=0.15)
    assert found.seconds_per_char == pytest.approx(0.04, rel=0.15)


def test_a_part_that_would_be_negative_is_zero_and_the_others_carry_its_share() -> None:
    _, steps, chars = readings(200)
    found = fit_cost(10 + 0.05 * chars - 0.5 * steps, steps, chars)
    assert found.seconds_per_step == 0
    assert 0 < found.seconds_per_char < 0.05


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0.1, 600), st.integers(0, 40), st.integers(0, 5000)), min_size=4, max_size=60))
def test_no_times_make_reading_cost_less_than_nothing(rows: list[tuple[float, int, int]]) -> None:
    found = fit_cost(*zip(*rows, strict=True))
    assert min(found.fixed_seconds, found.seconds_per_step, found.seconds_per_char) >= 0
    assert found.fixed_seconds + found.seconds_per_step + found.seconds_per_char > 0


def test_too_few_times_are_an_error() -> None:
    with pytest.raises(DataError, match="at least four"):
        fit_cost([10, 20, 30], [1, 2, 3], [10, 20, 30])
