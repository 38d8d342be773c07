"""When a project's schedule and its quiet hours say what; pure functions of a policy and a time."""

from datetime import datetime, timedelta

from annotation.models import RoundsPolicy
from annotation.models.rounds_policy import parse_cron

MOST_WINDOWS = 64  # that may follow upon each other before quiet hours count as endless


def next_time(policy: RoundsPolicy, after: datetime) -> datetime | None:
    """The schedule's first time after `after`; None without a schedule."""
    return next(parse_cron(policy.cron, after.astimezone(policy.zone)), None) if policy.cron else None


def quiet_until(policy: RoundsPolicy, now: datetime) -> datetime | None:
    """When the quiet hours that `now` lies in are over; None outside of them.

    Windows that touch or overlap count as one. Quiet hours without an end give a time weeks away.
    """
    end = _end_of_window(policy, now)
    for _ in range(MOST_WINDOWS):
        later = _end_of_window(policy, end) if end is not None else None
        if later is None:
            break
        end = later
    return end


def _end_of_window(policy: RoundsPolicy, now: datetime) -> datetime | None:
    """The latest end of the windows that hold at `now`, by the clock on the project's wall."""
    wall = now.astimezone(policy.zone).replace(tzinfo=None)
    ends = []
    for window in policy.windows:
        for days_ago in (0, 1):
            day = (wall - timedelta(days=days_ago)).replace(hour=0, minute=0, second=0, microsecond=0)
            length = window.end - window.start if window.end > window.start else window.end - window.start + 24 * 60
            begins = day + timedelta(minutes=window.start)
            ends_at = begins + timedelta(minutes=length)
            if day.weekday() in window.days and begins <= wall < ends_at:
                ends.append(ends_at)
    return max(ends).replace(tzinfo=policy.zone) if ends else None


def start_of_month(policy: RoundsPolicy, now: datetime) -> datetime:
    return policy.start_of_day(now).replace(day=1)
