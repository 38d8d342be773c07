"""Who labels too fast to have read is named, and people as they are are left in peace."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from annotation.labels.annotators.haste import LEAST, Timed, find_haste

START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 4.0  # a step, of the usual person
BETWEEN, WITHIN = 0.4, 0.6  # standard deviations of log time: from person to person, and of one person's labels


def labels(rng, who, number, seconds, *, begin=0, within=WITHIN):
    times = seconds * np.exp(rng.normal(0, within, number))
    return [Timed(who, START + timedelta(minutes=begin + n), 1000 * float(time)) for n, time in enumerate(times)]


def crowd(rng, people, number):
    paces = SECONDS * np.exp(rng.normal(0, BETWEEN, people))
    return [one for n, pace in enumerate(paces) for one in labels(rng, f"p{n}", number, float(pace))]


@pytest.mark.parametrize("others", [1, 3, 10])
def test_who_takes_a_tenth_of_the_usual_time_is_named_however_few_the_others_are(others):
    rng = np.random.default_rng(0)
    [haste] = find_haste([*crowd(rng, others, 30), *labels(rng, "hasty", 19, 0.39, within=0.2)])
    assert (haste.who, haste.labels) == ("hasty", 19)
    assert haste.step_ms == pytest.approx(390, rel=0.2)
    assert (haste.usual_ms is None) == (others < 3)


def test_a_project_of_long_steps_names_who_is_slow_elsewhere():
    rng = np.random.default_rng(0)
    paces = [30.0, 25.0, 40.0, 35.0]
    slow = [one for n, pace in enumerate(paces) for one in labels(rng, f"p{n}", 20, pace)]
    assert [haste.who for haste in find_haste([*slow, *labels(rng, "hasty", 20, 2.0)])] == ["hasty"]
    assert find_haste(labels(rng, "alone", 20, 2.0)) == []


def test_too_few_labels_say_nothing():
    rng = np.random.default_rng(0)
    assert find_haste(labels(rng, "hasty", LEAST - 1, 0.2)) == []


def test_what_was_looked_at_is_past_and_new_haste_is_named_again():
    rng = np.random.default_rng(0)
    first = labels(rng, "hasty", 20, 0.3)
    [haste] = find_haste(first)
    assert find_haste(first, cleared_until={"hasty": haste.until}) == []
    again = labels(rng, "hasty", 20, 0.3, begin=60)
    [second] = find_haste([*first, *again], cleared_until={"hasty": haste.until})
    assert second.since >= again[0].at


@pytest.mark.parametrize(("people", "most"), [(1, 0.001), (4, 0.01), (8, 0.01), (20, 0.005)])
def test_people_as_they_are_are_seldom_named(people, most):
    """Each of 200 projects is looked at after every tenth of 100 labels a person: the share of people ever named."""
    rng = np.random.default_rng(7)
    named = 0
    for _ in range(200):
        everybody = crowd(rng, people, 100)
        ever: set[str] = set()
        for seen in range(10, 101, 10):
            until = START + timedelta(minutes=seen)
            ever |= {haste.who for haste in find_haste([one for one in everybody if one.at < until])}
        named += len(ever)
    assert named / (200 * people) <= most
