"""Forecasts of work, of label quality and of a model's F1, each with a band that holds what happens."""

import numpy as np
import pytest

from annotation.labels.planning.curve import Trained, fit_curve
from annotation.labels.planning.opinions import Known, Rater, quality_by_opinions
from annotation.labels.planning.workload import Day, forecast


def weeks(n, *, labels=50, weekend=0):
    return [
        Day(day % 7, *((labels, labels * 60.0, labels * 0.5) if day % 7 < 5 else (weekend, 0.0, 0.0)))
        for day in range(7 * n)
    ]


def test_an_even_pace_goes_on_and_rests_on_weekends():
    work = forecast(weeks(7), goal="labels", amount=275, first_weekday=0)
    assert (work.days.low, work.days.value, work.days.high) == (7.5, 7.5, 7.5)  # five days, a weekend, half a day
    assert (work.hours.value, work.cost.value) == pytest.approx((275 / 60, 137.5))
    assert (work.past_days, work.past_labels, work.reached) == (35, 1750, True)


def test_a_budget_and_a_number_of_days_give_the_labels():
    assert forecast(weeks(7), goal="cost", amount=50, first_weekday=0).labels.value == pytest.approx(100)
    assert forecast(weeks(7), goal="days", amount=9, first_weekday=0).labels.value == pytest.approx(350)


def test_uneven_days_widen_the_band_and_few_days_more_so():
    random = np.random.default_rng(1)
    past = [Day(n % 7, int(labels), 60.0 * labels, 0.0) for n, labels in enumerate(random.poisson(30, 42) + 20)]
    long, short = (forecast(days, goal="labels", amount=2000, first_weekday=0) for days in (past, past[-6:]))
    assert long.days.low < long.days.value < long.days.high
    assert short.days.high - short.days.low > long.days.high - long.days.low


def test_too_few_days_and_a_budget_without_a_cost_forecast_nothing():
    assert forecast(weeks(7)[:2], goal="labels", amount=10, first_weekday=0) is None
    free = [day._replace(cost=0.0) for day in weeks(7)]
    assert forecast(free, goal="cost", amount=10, first_weekday=0) is None


def test_what_is_not_reached_in_five_years_is_said():
    work = forecast(weeks(7), goal="labels", amount=1e6, first_weekday=0)
    assert not work.reached
    assert work.labels.value < 1e6


def test_hours_a_week_replace_the_past_hours_at_the_past_pace():
    work = forecast(weeks(7), goal="days", amount=7, first_weekday=0, hours_a_week=7)
    assert (work.hours.value, work.labels.value) == pytest.approx((7, 420))


def test_an_uneven_pace_widens_the_hours_or_the_labels_that_hours_bring():
    random = np.random.default_rng(2)
    past = [Day(n % 7, 40, 40 * seconds, 0.0) for n, seconds in enumerate(random.lognormal(4, 0.5, 42))]
    work = forecast(past, goal="labels", amount=400, first_weekday=0)
    assert work.days.low == work.days.high
    assert work.hours.low < 0.9 * work.hours.value < 1.1 * work.hours.value < work.hours.high
    set_hours = forecast(past, goal="days", amount=70, first_weekday=0, hours_a_week=7)
    assert set_hours.hours.low == pytest.approx(70) == pytest.approx(set_hours.hours.high)
    assert set_hours.labels.low < set_hours.labels.value < set_hours.labels.high


ALIKE = [Rater(1, (0.8, 0.02), (0.1, 0.02)) for _ in range(5)]
ONE_IS_RIGHT = 0.7 * 0.9 + 0.3 * 0.8  # with independent errors and 30 % bad steps


def test_easy_known_steps_do_not_make_one_opinion_better_than_its_person():
    """They are right more often than the rates of the people promise."""
    one, *_ = quality_by_opinions(ALIKE, 0.3, Known((1.0, 0.01), 3))
    assert one.right.value == pytest.approx(ONE_IS_RIGHT, abs=0.01)


def test_more_opinions_of_independent_people_are_right_more_often():
    one, two, three = quality_by_opinions(ALIKE, 0.3, Known((ONE_IS_RIGHT, 0.01), 1))
    assert one.right.value == pytest.approx(ONE_IS_RIGHT, abs=0.01)
    assert one.right.value <= two.right.value + 0.01 < three.right.value
    assert [quality.opinions for quality in quality_by_opinions(ALIKE[:1], 0.3, Known((0.8, 0.1), 1))] == [1]


def test_what_everybody_misjudges_is_lost_for_any_number_of_opinions():
    independent = quality_by_opinions(ALIKE, 0.3, Known((ONE_IS_RIGHT, 0.01), 1))
    shared = quality_by_opinions(ALIKE, 0.3, Known((ONE_IS_RIGHT - 0.1, 0.01), 1))
    losses = [a.right.value - b.right.value for a, b in zip(independent, shared, strict=True)]
    assert losses == pytest.approx([0.1] * 3, abs=0.01)


def test_few_known_steps_widen_the_band():
    sure, unsure = (quality_by_opinions(ALIKE, 0.3, Known((0.85, error), 2))[0] for error in (0.005, 0.05))
    assert unsure.right.high - unsure.right.low > 2 * (sure.right.high - sure.right.low)


def test_a_curve_is_continued_towards_its_floor():
    trained = [Trained(n, 1 - 0.3 - 0.4 * (n / 50) ** -0.5) for n in (50, 100, 200, 400)]
    after = fit_curve(trained).after(800)
    assert after.f1.low < 0.6 < after.f1.high
    assert after.f1.high - after.f1.low < 0.15
    assert after.gain.value == pytest.approx(0.041, abs=0.015)
    assert (after.labels, after.models) == (800, 4)


def test_the_labels_for_a_wanted_f1_and_one_that_is_out_of_reach():
    curve = fit_curve([Trained(n, 1 - 0.3 - 0.4 * (n / 50) ** -0.5) for n in (50, 100, 200, 400)])
    needed = curve.labels_for(0.62)
    assert needed.low < 1250 < needed.high
    assert curve.labels_for(0.95) is None


def test_two_numbers_of_labels_are_no_curve():
    assert fit_curve([Trained(50, 0.3), Trained(100, 0.4), Trained(100, 0.41)]) is None
