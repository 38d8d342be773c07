"""How often a grade misleads, from few labels and many."""

import json

import pytest

from prm.answers.noise import PRIOR, STRENGTH, fit_noise
from prm.traces import Step, Trace
from tests.real_data import real_data


def graded(right: bool, error: int | None, n: int, domain: str = "d", generator: str = "g") -> list[Trace]:
    steps = [Step("a"), Step("b")]
    one = {"domain": domain, "generator": generator, "final_answer_correct": right, "first_error": error}
    return [Trace(f"{domain}{generator}{right}{error}{k}", "p", steps, **one) for k in range(n)]


def test_without_labels_it_is_the_prior_everywhere() -> None:
    unread = graded(True, None, 5)
    rates = fit_noise(unread)
    assert (rates.overall, rates.right, rates.wrong) == (PRIOR, 0, 0)
    assert rates.of("d", "g") == rates.of("other", "") == PRIOR


def test_a_rate_is_the_mean_of_its_posterior_level_by_level() -> None:
    traces = [*graded(True, 1, 6), *graded(True, -1, 24), *graded(False, -1, 3, "e", "h"), *graded(False, 0, 17, "e")]
    rates = fit_noise(traces)
    overall = (6 + STRENGTH * PRIOR.right_despite_error) / (30 + STRENGTH)
    within = (6 + STRENGTH * overall) / (30 + STRENGTH)
    assert rates.overall.right_despite_error == pytest.approx(overall)
    assert rates.domains["d"].right_despite_error == pytest.approx(within)
    assert rates.of("d", "g").right_despite_error == pytest.approx((6 + STRENGTH * within) / (30 + STRENGTH))
    assert rates.of("d", "unseen") == rates.domains["d"]
    assert rates.of("e", "h").wrong_without_error > rates.of("e", "g").wrong_without_error
    assert (rates.right, rates.wrong) == (30, 20)


def test_the_chance_of_no_error_follows_the_grade() -> None:
    noise = fit_noise(graded(True, 0, 50) + graded(False, -1, 50)).overall
    assert noise.flawless(True) == 1 - noise.right_despite_error < 0.2
    assert noise.flawless(False) == noise.wrong_without_error > 0.8


@pytest.mark.parametrize(("name", "hidden", "among"), [("gsm8k", 7, 200), ("math", 94, 500)])
def test_real_right_answers_hide_errors_and_wrong_ones_nearly_always_have_one(name, hidden, among) -> None:
    rows = json.loads(real_data(f"processbench/{name}.json").read_bytes())
    traces = [
        Trace(
            row["id"],
            row["problem"],
            row["steps"],
            domain=name,
            first_error=row["label"],
            final_answer_correct=row["final_answer_correct"],
        )
        for row in rows
    ]
    rates = fit_noise(traces)
    expected = (hidden + STRENGTH * PRIOR.right_despite_error) / (among + STRENGTH)
    assert rates.overall.right_despite_error == pytest.approx(expected)
    assert rates.overall.wrong_without_error < 0.01
