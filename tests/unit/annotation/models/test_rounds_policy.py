"""Schedules and quiet hours in the project's own zone, over the changes of its clock."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import RoundsPolicy, parse_policy
from annotation.models.rounds_policy import parse_cron, parse_window
from prm.messages import SENTENCES

ZURICH = ZoneInfo("Europe/Zurich")


def at(text, zone=UTC):
    return datetime.fromisoformat(text).replace(tzinfo=zone)


def test_a_schedule_follows_the_clock_on_the_wall():
    policy = RoundsPolicy(cron="0 3 * * *", time_zone="Europe/Zurich")
    assert policy.next_time(at("2026-03-27T12:00")) == at("2026-03-28T02:00")  # winter: one hour ahead of UTC
    assert policy.next_time(at("2026-03-28T12:00")) == at("2026-03-29T01:00")  # summer: two


def test_a_time_that_the_clock_skips_or_has_twice_comes_once():
    policy = RoundsPolicy(cron="30 2 * * *", time_zone="Europe/Zurich")
    for start, days in (("2026-03-28T12:00", 3), ("2026-10-24T12:00", 3)):
        time, found = at(start), []
        for _ in range(days):
            time = policy.next_time(time)
            found.append(time.astimezone(ZURICH).date())
        assert len(set(found)) == days


def test_no_schedule_has_no_time():
    assert RoundsPolicy().next_time(at("2026-01-01T00:00")) is None


@pytest.mark.parametrize(
    "rounds",
    [
        {"cron": "every day"},
        {"cron": "0 3 * *"},
        {"cron": "61 * * * *"},
        {"time_zone": "Middle/Earth"},
        {"time_zone": "../../etc/passwd"},
        {"quiet_hours": ["at night"]},
        {"quiet_hours": ["25:00-26:00"]},
        {"quiet_hours": ["moon 09:00-10:00"]},
        {"runs_per_day": -1},
        {"agreement_floor": 1.2},
    ],
    ids=str,
)
def test_what_cannot_be_meant_is_refused_when_it_is_written(rounds):
    with pytest.raises(msgspec.ValidationError):
        parse_policy({"rounds": rounds})


def test_quiet_hours_over_midnight():
    policy = RoundsPolicy(quiet_hours=["22:00-07:00"], time_zone="Europe/Zurich")
    assert policy.quiet_until(at("2026-06-01T23:30", ZURICH)) == at("2026-06-02T07:00", ZURICH)
    assert policy.quiet_until(at("2026-06-02T06:59", ZURICH)) == at("2026-06-02T07:00", ZURICH)
    assert policy.quiet_until(at("2026-06-02T07:00", ZURICH)) is None
    assert policy.quiet_until(at("2026-06-02T21:59", ZURICH)) is None


def test_quiet_days_begin_and_end_where_the_line_says():
    policy = RoundsPolicy(quiet_hours=["fri 18:00-24:00", "sat-sun 00:00-24:00"])
    friday_night = at("2026-06-05T20:00")
    assert policy.quiet_until(friday_night) == at("2026-06-08T00:00")  # windows that touch are one
    assert policy.quiet_until(at("2026-06-05T17:59")) is None
    assert parse_window("sat-mon 01:00-02:00").days == (5, 6, 0)


minutes = st.integers(0, 24 * 60 - 1).map(lambda n: f"{n // 60:02}:{n % 60:02}")


@given(windows=st.lists(st.tuples(minutes, minutes), max_size=3), offset=st.integers(0, 14 * 24 * 60))
def test_quiet_hours_end_where_nothing_is_quiet_any_more(windows, offset):
    policy = RoundsPolicy(quiet_hours=[f"{start}-{end}" for start, end in windows])
    now = at("2026-06-01T00:00") + timedelta(minutes=offset)
    until = policy.quiet_until(now)
    if until is None:
        return
    assert until > now
    endless = until - now > timedelta(days=7)
    assert endless or policy.quiet_until(until) is None
    assert policy.quiet_until(until - timedelta(minutes=1)) is not None


@pytest.mark.parametrize(
    ("cron", "reason"),
    [
        ("every day", "it must have five fields"),
        ("61 * * * *", "the minute is invalid"),
        ("0 25 * * *", "the hour is invalid"),
        ("0 0 32 * *", "the day of the month is invalid"),
        ("0 0 * 13 *", "the month is invalid"),
        ("0 0 * * 9", "the weekday is invalid"),
    ],
)
def test_a_wrong_schedule_is_refused_in_words_that_can_be_translated(cron, reason):
    with pytest.raises(ValueError, match="is not a schedule") as refused:
        parse_cron(cron, datetime(2026, 1, 1, tzinfo=UTC))
    fault = refused.value.args[0].values["reason"]
    assert (fault, SENTENCES[fault.code]) == (reason, reason)
