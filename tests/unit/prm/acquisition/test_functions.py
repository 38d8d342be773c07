"""Acquisition functions: cases computed by hand, bounds, and what must not matter."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from prm.acquisition import FUNCTIONS, UNKNOWN
from prm.acquisition import functions as f
from prm.acquisition.candidates import Stack
from prm.acquisition.functions import EXACT_STEPS, joint_bald
from prm.answers.noise import PRIOR, AnswerNoise

probabilities = st.tuples(st.integers(1, 6), st.integers(1, 5)).flatmap(
    lambda shape: arrays(float, shape, elements=st.floats(0, 1, width=32))
)
BALD = [f.first_error_bald, f.step_bald, joint_bald]


def h(*q: float) -> float:
    return -sum(x * math.log(x) for x in q if x)


def stack(p: np.ndarray, *correct: int) -> Stack:
    return Stack(np.arange(len(p)), p, np.ones(p.shape[:2]), np.array(correct or [UNKNOWN] * len(p), dtype=np.int8))


def test_first_error_bald_by_hand() -> None:
    assert f.first_error_bald(np.array([[0.0, 1.0]])) == pytest.approx(math.log(2))
    assert f.first_error_bald(np.array([[0.5, 0.5]])) == pytest.approx(0)
    # Two heads that place a certain error at different steps, and agree there is one.
    assert f.first_error_bald(np.array([[0.0, 1.0], [0.5, 0.0]])) == pytest.approx(math.log(2))
    # q = (.2, .4, .4) and (.6, .1, .3); mean (.4, .25, .35).
    p = np.array([[0.8, 0.4], [0.5, 0.75]])
    expected = h(0.4, 0.25, 0.35) - (h(0.2, 0.4, 0.4) + h(0.6, 0.1, 0.3)) / 2
    assert f.first_error_bald(p) == pytest.approx(expected)


def test_step_bald_by_hand() -> None:
    p = np.array([[0.8, 0.4], [0.5, 0.75]])
    expected = h(0.6, 0.4) - (h(0.8, 0.2) + h(0.4, 0.6)) / 2 + h(0.625, 0.375) - (h(0.5, 0.5) + h(0.75, 0.25)) / 2
    assert f.step_bald(p) == pytest.approx(expected)


def test_joint_bald_by_hand() -> None:
    p = np.array([[0.8, 0.4], [0.5, 0.75]])
    first, second = (0.4, 0.4, 0.1, 0.1), (0.3, 0.1, 0.45, 0.15)
    mean = [(a + b) / 2 for a, b in zip(first, second, strict=True)]
    assert joint_bald(p) == pytest.approx(h(*mean) - (h(*first) + h(*second)) / 2)
    # Two steps that tell the same thing for certain: ln 2 together, where step_bald counts it twice.
    same = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert joint_bald(same) == pytest.approx(math.log(2))
    assert f.step_bald(same) == pytest.approx(2 * math.log(2))


def test_entropy_margin_and_surprisal_by_hand() -> None:
    p = np.array([[0.8, 0.4], [0.9, 0.9]])
    assert f.entropy(p) == pytest.approx((h(0.6, 0.4) + h(0.9, 0.1)) / 2)
    assert f.margin(p) == pytest.approx(0.8)
    assert f.surprisal(p) == pytest.approx(-math.log(0.6))


@pytest.mark.parametrize(
    ("steps", "unsure"),
    [
        ([[0.999, 0.998], [0.997, 0.999]], 0.0),  # sure that every step is good
        ([[0.999, 0.998], [0.02, 0.021]], 0.0),  # sure of an error
        ([[0.999, 0.998], [0.02, 0.021], [0.5, 0.1]], 0.0),  # doubt after the first predicted error does not count
        ([[0.999, 0.998], [0.85, 0.85]], 1.0),  # the heads agree that it is open
        ([[0.93, 0.97], [0.999, 0.999]], 1.0),  # confident, but the heads differ by more than the threshold
        ([[0.3, 0.3], [0.999, 0.999]], 1.0),  # in doubt at the first predicted error itself
    ],
)
def test_actprm_asks_where_the_model_is_unsure_up_to_the_first_predicted_error(
    steps: list[list[float]], unsure: float
) -> None:
    assert f.actprm(np.array(steps)) == unsure


def test_actprm_with_a_single_head_goes_by_confidence_alone() -> None:
    assert f.actprm(np.array([[0.95], [0.99]])) == 0
    assert f.actprm(np.array([[0.95], [0.8]])) == 1


def test_convincing_wrong_answers_by_hand() -> None:
    p = np.repeat(np.array([[[0.8, 1.0], [0.5, 0.5]]]), 3, axis=0)  # scores of .9 x .5
    assert f.convincing_wrong_answer(p, np.array([0, 1, UNKNOWN])) == pytest.approx([0.45, 0.0, 0.45 * 0.55])


def test_contradictions_are_convincing_wrong_and_doubted_right_answers() -> None:
    p = np.repeat(np.array([[[0.8, 1.0], [0.5, 0.5]]]), 3, axis=0)  # scores of .9 x .5
    assert f.contradiction(p, np.array([0, 1, UNKNOWN])) == pytest.approx([0.45, 0.55, 1.0])


@given(probabilities)
def test_information_is_never_negative_nor_more_than_there_is(p: np.ndarray) -> None:
    steps, heads = p.shape
    first, each, joint = (float(function(p)) for function in BALD)
    assert 0 <= first <= min(math.log(heads), math.log(steps + 1)) + 1e-9
    assert 0 <= joint <= min(math.log(heads), steps * math.log(2)) + 1e-9
    assert 0 <= each <= steps * min(math.log(heads), math.log(2)) + 1e-9
    # A first-error verdict is read off the ratings of all steps, and those together tell no more than one by one.
    assert first <= joint + 1e-9
    assert joint <= each + 1e-9


@given(probabilities, st.randoms(use_true_random=False))
def test_the_order_of_the_heads_does_not_matter(p: np.ndarray, random: object) -> None:
    order = np.random.default_rng(random.randint(0, 999)).permutation(p.shape[1])  # type: ignore[attr-defined]
    for name in FUNCTIONS:
        function = FUNCTIONS.get(name)
        assert function(stack(p[None, :, order])) == pytest.approx(function(stack(p[None]))), name


@given(probabilities)
def test_heads_that_agree_leave_nothing_to_learn_about_them(p: np.ndarray) -> None:
    agreed = np.repeat(p[:, :1], 4, axis=1)
    for function in BALD:
        assert function(agreed) == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_many_at_once_are_what_each_is_alone(name: str) -> None:
    p = np.random.default_rng(0).uniform(0, 1, (7, 5, 4))
    correct = np.array([0, 1, UNKNOWN, 0, 1, 0, UNKNOWN])
    alone = [FUNCTIONS.get(name)(stack(p[i : i + 1], int(correct[i])))[0] for i in range(7)]
    assert FUNCTIONS.get(name)(stack(p, *correct)) == pytest.approx(alone)


def test_long_solutions_joint_information_is_near_the_exact_one() -> None:
    rng = np.random.default_rng(3)
    p = np.clip(rng.uniform(0.3, 1, (40, EXACT_STEPS, 1)) + rng.normal(0, 0.15, (40, EXACT_STEPS, 8)), 0.01, 0.99)
    # A step that every head is sure of tells nothing, so appending it changes nothing but the way it is computed.
    longer = np.concatenate([p, np.full((40, 1, 8), 1.0)], axis=1)
    exact, sampled = joint_bald(p), joint_bald(longer)
    assert np.corrcoef(exact, sampled)[0, 1] > 0.9
    assert np.abs(exact - sampled).mean() < 0.1 * exact.mean()
    assert (joint_bald(longer) == sampled).all()


def test_first_error_entropy_by_hand() -> None:
    p = np.array([[0.8, 0.4], [0.5, 0.75]])  # the mean verdict is (.4, .25, .35)
    assert f.first_error_entropy(p) == pytest.approx(h(0.4, 0.25, 0.35))


def test_the_chance_of_an_error_heeds_the_final_answer() -> None:
    p = np.full((3, 2, 2), 0.5)
    assert f.error_chance(p, np.array([0, 1, UNKNOWN]), PRIOR) == pytest.approx([0.98, 0.15 * 0.75, 0.75])


def test_the_chance_of_an_error_takes_the_fitted_noise() -> None:
    p = np.full((2, 1, 2), 0.5)
    chance = f.error_chance(p, np.array([0, 1]), AnswerNoise(right_despite_error=0.5, wrong_without_error=0.1))
    assert chance == pytest.approx([0.9, 0.5 * 0.5])


def test_wrong_answers_need_no_model() -> None:
    p = np.random.default_rng(0).random((3, 2, 4))
    assert f.wrong_answers(p, np.array([0, 1, UNKNOWN])).tolist() == [1, 0, 0]


def test_balance_gives_errors_their_share_where_chances_are_right() -> None:
    from prm.acquisition.ranking import WANTED_ERRONEOUS, balance

    chance = np.array([1.0] * 10 + [0.0] * 90)
    weights = balance(chance)
    assert weights[:10].sum() / weights.sum() == pytest.approx(WANTED_ERRONEOUS)
