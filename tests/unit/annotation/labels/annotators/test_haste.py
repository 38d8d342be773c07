"""Who labels too fast to have read is named, and people as they are are left in peace."""

from datetime import UTC, datetime, timedelta
from math import log

import numpy as np
import pytest

from annotation.labels.annotators.haste import LEAST, OTHERS, Timed, find_haste, find_unread

START = datetime(2026, 1, 1, tzinfo=UTC)
SECONDS = 4.0  # a step, of the usual person
BETWEEN, WITHIN = 0.4, 0.6  # standard deviations of log time: from person to person, and of one person's labels
THRESHOLD = log(2000)


def labels(rng, who, number, seconds, *, begin=0, within=WITHIN, characters=0):
    times = seconds * np.exp(rng.normal(0, within, number))
    return [
        Timed(begin + n, who, START + timedelta(minutes=begin + n), 1000 * float(time), 1, characters)
        for n, time in enumerate(times)
    ]


def unread(timed, **named):
    return find_unread(timed, threshold=THRESHOLD, **named)


def named_in(timed):
    return {*unread(timed), *(haste.who for haste in find_haste(timed))}


def crowd(rng, people, number):
    paces = SECONDS * np.exp(rng.normal(0, BETWEEN, people))
    return [one for n, pace in enumerate(paces) for one in labels(rng, f"p{n}", number, float(pace))]


@pytest.mark.parametrize("others", [1, 3, 10])
def test_who_takes_a_tenth_of_the_usual_time_is_named_however_few_the_others_are(others):
    rng = np.random.default_rng(0)
    timed = [*crowd(rng, others, 30), *labels(rng, "hasty", 19, 0.3, within=0.2)]
    rises = unread(timed)
    assert set(rises) == {"hasty"}
    assert len(rises["hasty"].labels) == 19
    if others >= OTHERS:
        [haste] = find_haste(timed)
        assert (haste.who, haste.labels) == ("hasty", 19)
        assert haste.step_ms == pytest.approx(300, rel=0.2)
        assert haste.usual_ms > 5 * haste.step_ms


def test_two_seconds_are_too_short_for_2000_characters():
    """Three steps in two seconds are above the floor of a step."""
    timed = [Timed(n, "hasty", START + timedelta(minutes=n), 2000, 3, 2000) for n in range(4)]
    rise = unread(timed)["hasty"]
    assert (rise.hits, rise.expected) == (4, pytest.approx(0.2))
    slower = [Timed(n, "reader", START + timedelta(minutes=n), 20_000, 3, 2000) for n in range(50)]
    assert unread(slower) == {}


def test_haste_after_careful_work_is_named_with_the_hasty_labels_only():
    rng = np.random.default_rng(0)
    before, hasty = labels(rng, "x", 30, 4.0), labels(rng, "x", 19, 0.3, begin=30, within=0.1)
    after = labels(rng, "x", 30, 4.0, begin=49)
    assert unread([*before, *hasty, *after])["x"].labels == tuple(range(30, 49))


def test_skimming_now_and_then_is_not_named():
    timed = [Timed(n, "x", START + timedelta(minutes=n), 300 if n % 10 == 0 else 4000, 1) for n in range(200)]
    assert unread(timed) == {}


def test_a_project_of_long_steps_names_who_is_slow_elsewhere():
    rng = np.random.default_rng(0)
    paces = [30.0, 25.0, 40.0, 35.0]
    slow = [one for n, pace in enumerate(paces) for one in labels(rng, f"p{n}", 20, pace)]
    assert [haste.who for haste in find_haste([*slow, *labels(rng, "hasty", 20, 2.0)])] == ["hasty"]
    assert find_haste(labels(rng, "alone", 20, 2.0)) == []


def test_too_few_labels_say_nothing():
    rng = np.random.default_rng(0)
    others = crowd(rng, OTHERS, 20)
    assert find_haste([*others, *labels(rng, "hasty", LEAST - 1, 0.2)]) == []
    assert unread(labels(rng, "hasty", 3, 0.2)) == {}


def test_what_was_looked_at_is_past_and_new_haste_is_named_again():
    rng = np.random.default_rng(0)
    first = [*crowd(rng, OTHERS, 20), *labels(rng, "hasty", 20, 0.3)]
    again = labels(rng, "hasty", 20, 0.3, begin=60)
    [haste], rise = find_haste(first), unread(first)["hasty"]
    cleared = {"hasty": max(haste.until, rise.until)}
    assert find_haste(first, cleared_until=cleared) == []
    assert unread(first, cleared_until=cleared) == {}
    [second], rise = (
        find_haste([*first, *again], cleared_until=cleared),
        unread([*first, *again], cleared_until=cleared),
    )
    assert second.since >= again[0].at
    assert rise["hasty"].since >= again[0].at


@pytest.mark.slow
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
            ever |= named_in([one for one in everybody if one.at < until])
        named += len(ever)
    assert named / (200 * people) <= most
