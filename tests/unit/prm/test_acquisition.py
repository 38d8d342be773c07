"""Acquisition: known gains, exact inclusion probabilities, the cap."""

import math
from collections import Counter

import numpy as np
import pytest

from prm.acquisition import (
    FUNCTIONS,
    Candidate,
    CostModel,
    draw,
    expected_cost,
    first_error_bald,
    inclusion_probabilities,
    rank,
)
from prm.errors import PRMError


def candidates(n: int, problems: int, seed: int = 0) -> list[Candidate]:
    rng = np.random.default_rng(seed)
    return [
        Candidate(f"c{i}", f"p{i % problems}", "d", rng.uniform(0.05, 0.95, (4, 3)).tolist(), [20, 40, 10, 30])
        for i in range(n)
    ]


def test_first_error_bald_by_hand() -> None:
    assert first_error_bald(np.array([[0.0, 1.0]])) == pytest.approx(math.log(2))
    assert first_error_bald(np.array([[0.5, 0.5]])) == pytest.approx(0)
    # Two heads that place a certain error at different steps, and agree there is one.
    assert first_error_bald(np.array([[0.0, 1.0], [0.5, 0.0]])) == pytest.approx(math.log(2))
    # q = (.2, .4, .4) and (.6, .1, .3); mean (.4, .25, .35).
    p = np.array([[0.8, 0.4], [0.5, 0.75]])

    def h(*q: float) -> float:
        return -sum(x * math.log(x) for x in q)

    assert first_error_bald(p) == pytest.approx(h(0.4, 0.25, 0.35) - (h(0.2, 0.4, 0.4) + h(0.6, 0.1, 0.3)) / 2)


def test_cost_counts_steps_by_the_chance_that_they_are_read() -> None:
    cost = CostModel(fixed_seconds=10, seconds_per_step=2, seconds_per_char=0.1)
    p = np.array([[0.8, 0.4], [0.5, 0.5]])
    assert expected_cost(p, [10, 20], cost) == pytest.approx(10 + 3 + 0.6 * 4)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_draws_the_budget_within_the_cap(name: str) -> None:
    pool = candidates(60, problems=20)
    for seed in range(20):
        chosen = rank(name, pool, budget=15, cost=CostModel(), rng=np.random.default_rng(seed), cap_per_problem=1)
        problems = Counter(int(s.id[1:]) % 20 for s in chosen)
        assert len(chosen) == 15
        assert max(problems.values()) == 1
        assert all(0 < s.inclusion_probability <= 1 for s in chosen)


def test_the_cap_limits_what_comes_back() -> None:
    pool = candidates(30, problems=3)
    rng = np.random.default_rng(0)
    assert len(rank("random", pool, budget=30, cost=CostModel(), rng=rng, cap_per_problem=2)) == 6
    assert len(rank("random", pool, budget=99, cost=CostModel(), rng=rng, cap_per_problem=99)) == 30


def test_inclusion_probabilities_are_the_frequencies() -> None:
    rng = np.random.default_rng(1)
    problems = [f"p{i % 7}" for i in range(24)]
    included = inclusion_probabilities(rng.gamma(0.5, size=24), problems, 6, 1)
    assert included.sum() == pytest.approx(6)
    assert included.min() > 0
    runs = 20_000
    counts = Counter(i for _ in range(runs) for i in draw(included, problems, rng))
    found = np.array([counts[i] / runs for i in range(24)])
    error = np.sqrt(included * (1 - included) / runs)
    assert (np.abs(found - included) < 4.5 * error + 1e-9).all()


def test_more_useful_candidates_are_likelier() -> None:
    included = inclusion_probabilities(np.array([1.0, 2.0, 4.0, 8.0]), list("abcd"), 2, 1)
    assert (np.diff(included) >= 0).all()
    assert included[3] > 0.9


def test_cold_and_unscored_candidates_are_drawn_evenly() -> None:
    pool = [Candidate(f"c{i}", f"p{i}", "d", [[0.7]] if i else [], [5] if i else []) for i in range(4)]
    chosen = rank("first_error_bald", pool, budget=2, cost=CostModel(), rng=np.random.default_rng(0))
    assert [s.inclusion_probability for s in chosen] == pytest.approx([0.5, 0.5])


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(PRMError, match="unknown acquisition function 'best'"):
        rank("best", candidates(2, 2), budget=1, cost=CostModel(), rng=np.random.default_rng(0))
    assert rank("random", [], budget=1, cost=CostModel(), rng=np.random.default_rng(0)) == []
