"""Inclusion probabilities and the draw: exact, within the caps, spread over the embedding."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from prm.acquisition import Caps, draw, inclusion_probabilities
from prm.acquisition.drawing import spread_order
from prm.errors import PRMError

GROUPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4)), min_size=1, max_size=60)


def codes(groups: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Problem and domain of each candidate, the problem within its domain."""
    domain, problem = np.array(groups).T
    return np.unique(domain * 10 + problem, return_inverse=True)[1], np.unique(domain, return_inverse=True)[1]


def pool(n: int = 48, seed: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Utility, problem, domain (of 16 problems: 10, 4 and 2) and embedding of a pool."""
    rng = np.random.default_rng(seed)
    problem = np.arange(n) % 16
    domain = np.searchsorted([9, 13], problem)
    return rng.gamma(0.5, size=n), problem, domain, rng.normal(size=(n, 3)) + 5 * (problem % 4)[:, None]


@pytest.mark.slow
@pytest.mark.parametrize("caps", [Caps(None), Caps(1), Caps(2, 0.4)])
@pytest.mark.parametrize("embedded", [False, True])
def test_inclusion_probabilities_are_the_frequencies(caps: Caps, embedded: bool) -> None:
    utility, problem, domain, embedding = pool()
    included = inclusion_probabilities(utility, problem, domain, 9, caps)
    assert included.sum() == pytest.approx(9)
    assert included.min() > 0
    rng, runs = np.random.default_rng(2), 3_000
    counts = np.zeros(len(utility))
    for _ in range(runs):
        counts[draw(included, problem, domain, rng, embedding if embedded else None)] += 1
    error = np.sqrt(included * (1 - included) / runs)
    assert (np.abs(counts / runs - included) < 4.5 * error + 1e-9).all()


@pytest.mark.slow
@settings(max_examples=150)
@given(GROUPS, st.integers(1, 70), st.integers(1, 3) | st.none(), st.floats(0.2, 1) | st.none(), st.integers(0, 99))
def test_no_draw_breaks_a_cap_or_misses_the_budget(
    groups: list[tuple[int, int]], budget: int, per_problem: int | None, share: float | None, seed: int
) -> None:
    problem, domain = codes(groups)
    rng = np.random.default_rng(seed)
    included = inclusion_probabilities(
        rng.gamma(0.3, size=len(groups)), problem, domain, budget, Caps(per_problem, share)
    )
    assert 0 < included.min() <= included.max() <= 1
    drawn = draw(included, problem, domain, rng)
    assert len(drawn) == round(included.sum()) == len(set(drawn.tolist()))
    room = np.minimum(np.bincount(problem), per_problem or len(groups))
    assert (np.bincount(problem[drawn], minlength=len(room)) <= room).all()
    per_domain = np.bincount(domain, minlength=domain.max() + 1)
    most = np.bincount(domain, minlength=len(per_domain))
    if share is not None:
        most = np.minimum(most, max(int(share * budget + 1e-9), -(-budget // len(per_domain))))
    assert (np.bincount(domain[drawn], minlength=len(most)) <= most).all()
    if per_problem is None and share is None:
        assert len(drawn) == min(budget, len(groups))


def test_more_useful_candidates_are_likelier() -> None:
    apart = np.arange(4)
    included = inclusion_probabilities(np.array([1.0, 2.0, 4.0, 8.0]), apart, apart * 0, 2, Caps())
    assert (np.diff(included) >= 0).all()
    assert included[3] > 0.9


def test_a_domain_beyond_its_share_leaves_the_rest_to_the_others() -> None:
    domain = np.repeat([0, 1], [90, 10])
    utility = np.where(domain == 0, 10.0, 1.0)
    included = inclusion_probabilities(utility, np.arange(100), domain, 10, Caps(1, 0.6))
    assert np.bincount(domain, included) == pytest.approx([6, 4])


def test_a_single_domain_is_not_cut_by_its_share() -> None:
    included = inclusion_probabilities(np.ones(20), np.arange(20), np.zeros(20, dtype=int), 10, Caps(1, 0.3))
    assert included.sum() == pytest.approx(10)


def test_every_part_of_the_embedding_is_drawn_as_often_as_its_share() -> None:
    """Four far corners with a quarter of the probability each give a quarter of the draw each, every time."""
    rng = np.random.default_rng(0)
    corner = np.repeat(np.arange(4), 50)
    points = np.array([[0, 0], [0, 9], [9, 0], [9, 9]])[corner] + rng.normal(size=(200, 2))
    apart, included = np.arange(200), np.full(200, 12 / 200)
    for seed in range(30):
        drawn = draw(included, apart, apart * 0, np.random.default_rng(seed), points)
        assert np.bincount(corner[drawn], minlength=4).tolist() == [3, 3, 3, 3]
    without = [draw(included, apart, apart * 0, np.random.default_rng(seed)) for seed in range(30)]
    assert any(np.bincount(corner[drawn], minlength=4).tolist() != [3, 3, 3, 3] for drawn in without)


def test_a_solution_without_an_embedding_is_drawn_like_any_other() -> None:
    points = np.full((30, 2), np.nan)
    points[::2] = np.random.default_rng(0).normal(size=(15, 2))
    apart = np.arange(30)
    assert len(draw(np.full(30, 0.2), apart, apart * 0, np.random.default_rng(0), points)) == 6


def test_the_line_holds_everybody_once() -> None:
    rng = np.random.default_rng(0)
    order = spread_order(rng.normal(size=(100, 4)), rng.random(100), rng)
    assert sorted(order.tolist()) == list(range(100))


@pytest.mark.parametrize("caps", [{"problem": 0}, {"domain": 0.0}, {"domain": 1.5}])
def test_caps_that_cap_everything_are_an_error(caps: dict) -> None:
    with pytest.raises(PRMError, match="cap"):
        Caps(**caps)
