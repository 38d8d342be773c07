"""Ranking candidates: the budget, the order, and the same from rows and from columns."""

from collections import Counter

import numpy as np
import pytest

from prm.acquisition import FUNCTIONS, Candidate, Caps, CostModel, Pool, rank, rank_pool
from prm.errors import PRMError


def candidates(n: int, problems: int, seed: int = 0) -> list[Candidate]:
    """Of 1 to 12 steps, a fifth with wrong answers and a fifth ungraded."""
    rng = np.random.default_rng(seed)
    found = []
    for i in range(n):
        steps = int(rng.integers(1, 13))
        found.append(
            Candidate(
                id=f"c{i}",
                problem_id=f"p{i % problems}",
                domain="ab"[i % problems % 2],
                heads=rng.uniform(0.05, 0.95, (steps, 3)).tolist(),
                step_chars=rng.integers(5, 80, steps).tolist(),
                final_answer_correct=[False, None, True, True, True][i % 5],
                embedding=rng.normal(size=4).tolist(),
            )
        )
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_function_draws_the_budget_within_the_cap(name: str) -> None:
    pool = candidates(60, problems=20)
    for seed in range(10):
        chosen = rank(name, pool, budget=15, cost=CostModel(), rng=np.random.default_rng(seed))
        problems = Counter(int(s.id[1:]) % 20 for s in chosen)
        assert len(chosen) == 15
        assert max(problems.values()) == 1
        assert all(0 < s.inclusion_probability <= 1 for s in chosen)


def test_the_cap_limits_what_comes_back() -> None:
    pool = candidates(30, problems=3)
    rng = np.random.default_rng(0)
    assert len(rank("random", pool, budget=30, cost=CostModel(), rng=rng, caps=Caps(2))) == 6
    assert len(rank("random", pool, budget=99, cost=CostModel(), rng=rng, caps=Caps(None))) == 30


def test_the_same_seed_draws_the_same() -> None:
    pool = candidates(40, problems=40)
    once, again = (
        rank("first_error_bald", pool, budget=9, cost=CostModel(), rng=np.random.default_rng(5)) for _ in "ab"
    )
    assert once == again


def test_information_is_weighed_against_its_cost_and_a_score_is_not() -> None:
    heads = [[0.1, 0.9], [0.5, 0.5]]
    short, long = Candidate("short", "p", "d", heads, [10, 10]), Candidate("long", "q", "d", heads, [10, 900])
    rng = np.random.default_rng(0)
    by_cost = {one.id: one for one in rank("step_bald", [long, short], budget=2, cost=CostModel(), rng=rng)}
    assert list(by_cost) == ["short", "long"]
    assert by_cost["short"].gain == pytest.approx(by_cost["long"].gain)
    assert by_cost["long"].expected_cost > 15 + 900 * 0.04 / 2
    one_of = [rank(name, [long, short], budget=1, cost=CostModel(), rng=rng)[0] for name in ("step_bald", "entropy")]
    assert one_of[1].inclusion_probability == pytest.approx(0.5)
    assert abs(one_of[0].inclusion_probability - 0.5) > 0.3


def test_cold_and_unscored_candidates_are_drawn_evenly() -> None:
    pool = [Candidate(f"c{i}", f"p{i}", "d", [[0.7]] if i else [], [5] if i else []) for i in range(4)]
    chosen = rank("first_error_bald", pool, budget=2, cost=CostModel(), rng=np.random.default_rng(0))
    assert [s.inclusion_probability for s in chosen] == pytest.approx([0.5, 0.5])


def graded(n: int, correct: list[bool | None]) -> list[Candidate]:
    rng = np.random.default_rng(2)
    return [
        Candidate(f"c{i}", f"p{i}", "d", rng.uniform(0.1, 0.9, (3, 4)).tolist(), [9] * 3, correct[i % len(correct)])
        for i in range(n)
    ]


def expected_draws(pool: list[Candidate], budget: int) -> dict[bool | None, float]:
    """The mean number of draws of each grade by `contradiction`."""
    kinds = {one.id: one.final_answer_correct for one in pool}
    drawn: Counter[bool | None] = Counter()
    for seed in range(40):
        chosen = rank("contradiction", pool, budget=budget, cost=CostModel(), rng=np.random.default_rng(seed))
        drawn += Counter(kinds[one.id] for one in chosen)
    return {kind: count / 40 for kind, count in drawn.items()}


@pytest.mark.slow
def test_contradictions_are_six_wrong_answers_to_four_right_ones_however_rare_either_is() -> None:
    for correct, share in (([False, True], 1 / 2), ([False, *[True] * 9], 1 / 10)):
        drawn = expected_draws(graded(2000, correct), 50)
        assert drawn[False] == pytest.approx(0.9 * 30 + 0.1 * 50 * share, abs=0.6), "a tenth of the draw is even"


def test_without_grades_contradictions_are_drawn_at_random() -> None:
    pool = graded(60, [None])
    chosen = rank("contradiction", pool, budget=6, cost=CostModel(), rng=np.random.default_rng(0))
    assert [one.inclusion_probability for one in chosen] == pytest.approx([0.1] * 6)
    mixed = expected_draws(graded(2000, [None, None, False, True]), 40)
    assert mixed[None] == pytest.approx(20, abs=2), "ungraded solutions keep their share of the pool"


def test_half_precision_columns_rank_as_rows_do() -> None:
    pool = Pool.of(candidates(50, problems=50))
    small = Pool(
        pool.problem, pool.domain, pool.steps, pool.p.astype(np.float16), pool.chars, pool.correct, pool.embedding
    )
    whole, half = (
        rank_pool("first_error_bald", each, budget=50, cost=CostModel(), rng=np.random.default_rng(1))
        for each in (pool, small)
    )
    order = np.argsort(whole.index), np.argsort(half.index)
    assert half.gain[order[1]] == pytest.approx(whole.gain[order[0]], abs=2e-3)
    assert half.expected_cost[order[1]] == pytest.approx(whole.expected_cost[order[0]], rel=2e-3)


def test_an_unknown_name_is_an_error() -> None:
    with pytest.raises(PRMError, match="There is no acquisition function 'best'"):
        rank("best", candidates(2, 2), budget=1, cost=CostModel(), rng=np.random.default_rng(0))
    assert rank("random", [], budget=1, cost=CostModel(), rng=np.random.default_rng(0)) == []


def test_candidates_of_two_models_are_an_error() -> None:
    pool = [Candidate("a", "p", "d", [[0.5, 0.5]], [3]), Candidate("b", "q", "d", [[0.5]], [3])]
    with pytest.raises(PRMError, match="same number of heads"):
        rank("entropy", pool, budget=1, cost=CostModel(), rng=np.random.default_rng(0))
