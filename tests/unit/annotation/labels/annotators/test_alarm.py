"""When the alarm about a batch of labels goes off, whom it blames, and how often it is false."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from annotation.labels.annotators.alarm import Judged, find_alarms

START = datetime(2026, 1, 1, tzinfo=UTC)
PEOPLE = tuple("abcd")
FALSE_ALARMS = 1000


def labels(rng, *, who, number, misses, invents, start=0, against=()):
    """One a minute; `misses` and `invents` are how often they differ where there is an error, and where not."""
    judged = []
    for minute in range(start, start + number):
        error = bool(rng.random() < 0.45)
        differs = bool(rng.random() < (misses if error else invents))
        at = START + timedelta(minutes=minute)
        judged.append(Judged(hash((who, minute)), who, at, error, differs, frozenset(against)))
    return judged


def honest(rng, number=150, start=0):
    return [one for who in PEOPLE for one in labels(rng, who=who, number=number, misses=0.3, invents=0.1, start=start)]


def alarms(judged, **named):
    return find_alarms(judged, labels_between_false_alarms=FALSE_ALARMS, **named)


# misses and invents of somebody who...
BATCHES = {"names another step": (1.0, 1.0), "calls everything right": (1.0, 0.0), "answers by chance": (0.9, 0.85)}


@pytest.mark.parametrize("kind", BATCHES)
@pytest.mark.parametrize("seed", range(3))
def test_a_bad_batch_is_found_about_where_it_is(kind, seed):
    rng = np.random.default_rng(seed)
    misses, invents = BATCHES[kind]
    before = labels(rng, who="x", number=60, misses=0.3, invents=0.1)
    batch = labels(rng, who="x", number=60, misses=misses, invents=invents, start=60)
    after = labels(rng, who="x", number=60, misses=0.3, invents=0.1, start=120)
    [(who, alarm)] = alarms([*honest(rng), *before, *batch, *after]).items()
    assert who == "x"
    inside = [one for one in batch if alarm.since <= one.at <= alarm.until]
    assert len(inside) > 0.9 * len(batch)
    assert alarm.until - alarm.since < timedelta(minutes=len(batch) + 60)
    assert alarm.hits > 1.5 * alarm.expected


def test_people_as_they_are_give_few_false_alarms():
    """At least a thousand judged labels lie between two false alarms on average."""
    rng = np.random.default_rng(0)
    judged = people = 0
    for _ in range(40):
        crowd = honest(rng, number=100)
        judged += len(crowd)
        people += len(alarms(crowd))
    assert people <= judged / FALSE_ALARMS


def test_who_always_was_worse_than_others_is_no_batch():
    rng = np.random.default_rng(0)
    crowd = [*honest(rng, number=400), *labels(rng, who="worse", number=400, misses=0.45, invents=0.15)]
    assert set(alarms(crowd)) <= {"worse"}
    later = [one for one in crowd if one.who != "worse" or one.at > START + timedelta(minutes=100)]
    cleared = {"worse": START + timedelta(minutes=250)}
    assert alarms(later, cleared_until=cleared) == {}


def test_those_who_differ_from_the_bad_one_are_not_blamed():
    rng = np.random.default_rng(0)
    bad = labels(rng, who="x", number=50, misses=1.0, invents=1.0, against="a")
    victims = labels(rng, who="a", number=50, misses=1.0, invents=1.0, against="x")
    others = [*honest(rng), *labels(rng, who="x", number=40, misses=1.0, invents=1.0, start=50, against="b")]
    assert set(alarms([*bad, *victims, *others])) == {"x"}


def test_what_a_person_has_looked_at_is_past():
    rng = np.random.default_rng(0)
    crowd = [*honest(rng), *labels(rng, who="x", number=50, misses=1.0, invents=1.0)]
    [alarm] = alarms(crowd).values()
    assert alarms(crowd, cleared_until={"x": alarm.until}) == {}
    again = labels(rng, who="x", number=50, misses=0.3, invents=0.1, start=50)
    again += labels(rng, who="x", number=40, misses=1.0, invents=1.0, start=100)
    [second] = alarms([*crowd, *again], cleared_until={"x": alarm.until}).values()
    assert second.since > alarm.until
