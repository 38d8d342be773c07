"""The policy of automatic rounds: when they start, when they must not, and how long their files are stored."""

import re
from datetime import UTC, datetime, timedelta
from typing import Annotated
from zoneinfo import ZoneInfo

import msgspec
from cronsim import CronSim, CronSimError

from prm.messages import Message

DAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MINUTES_A_DAY = 24 * 60
MOST_WINDOWS = 64  # in a row, before quiet hours count as endless
_WINDOW = re.compile(r"(?:([a-z]{3})(?:-([a-z]{3}))? )?(\d\d):(\d\d)-(\d\d):(\d\d)")

LONGEST_DAYS = 365_000  # a thousand years; there is no date long before
Count = Annotated[int, msgspec.Meta(ge=0)]
Amount = Annotated[float, msgspec.Meta(ge=0)]
CRON_FAULTS = {
    "Bad minute": Message("cron_minute_wrong"),
    "Bad hour": Message("cron_hour_wrong"),
    "Bad day-of-month": Message("cron_day_wrong"),
    "Bad month": Message("cron_month_wrong"),
    "Bad day-of-week": Message("cron_weekday_wrong"),
}


class Window(msgspec.Struct, frozen=True):
    """A time range on weekdays (0: Monday), from minute `start` to `end`, which is on the next day if not later."""

    days: tuple[int, ...]
    start: int
    end: int


class RoundsPolicy(msgspec.Struct, forbid_unknown_fields=True):
    """When rounds start automatically, in the project's `time_zone`. 0 and "" mean never, or no limit.

    `cron` has five fields. `after_labels` counts labels since the last run. `drift_above` is a population stability
    index of the champion's scores. No round starts automatically in `quiet_hours` ("22:00-07:00", "sat-sun
    00:00-24:00"), beyond `runs_per_day` or `training_hours_per_month`, or while agreement on the first error is below
    `agreement_floor`. A run's folder and log are deleted `keep_days` after its end.
    """

    cron: str = ""
    time_zone: str = "UTC"
    after_labels: Count = 0
    drift_above: Amount = 0.0
    agreement_floor: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.0
    quiet_hours: list[str] = []
    runs_per_day: Count = 0
    training_hours_per_month: Amount = 0.0
    keep_days: Annotated[int, msgspec.Meta(ge=0, le=LONGEST_DAYS)] = 90

    def __post_init__(self) -> None:
        zone = parse_zone(self.time_zone)
        if self.cron:
            parse_cron(self.cron, datetime.now(zone))
        for line in self.quiet_hours:
            parse_window(line)

    @property
    def zone(self) -> ZoneInfo:
        return parse_zone(self.time_zone)

    def start_of_day(self, moment: datetime) -> datetime:
        """The last midnight before `moment`, in the project's time zone."""
        return moment.astimezone(self.zone).replace(hour=0, minute=0, second=0, microsecond=0)

    def next_time(self, after: datetime) -> datetime | None:
        """The first scheduled time after `after`; None without a schedule."""
        return next(parse_cron(self.cron, after.astimezone(self.zone)), None) if self.cron else None

    def quiet_until(self, now: datetime) -> datetime | None:
        """When the quiet hours that contain `now` end; None outside of quiet hours.

        Windows that touch or overlap count as one. For quiet hours that never end, the result is weeks away.
        """
        end = self._end_of_window(now)
        for _ in range(MOST_WINDOWS):
            later = self._end_of_window(end) if end is not None else None
            if later is None:
                break
            end = later
        return end

    def _end_of_window(self, now: datetime) -> datetime | None:
        """The latest end of the windows that contain `now`, in local time."""
        wall = now.astimezone(self.zone).replace(tzinfo=None)
        ends = []
        for window in map(parse_window, self.quiet_hours):
            for days_ago in (0, 1):
                day = (wall - timedelta(days=days_ago)).replace(hour=0, minute=0, second=0, microsecond=0)
                length = window.end - window.start + (0 if window.end > window.start else MINUTES_A_DAY)
                begins = day + timedelta(minutes=window.start)
                ends_at = begins + timedelta(minutes=length)
                if day.weekday() in window.days and begins <= wall < ends_at:
                    ends.append(ends_at)
        return max(ends).replace(tzinfo=self.zone) if ends else None

    @property
    def automatic(self) -> bool:
        """Whether rounds can start automatically."""
        return bool(self.cron or self.after_labels or self.drift_above)


def parse_zone(name: str) -> ZoneInfo:
    """The time zone with this IANA name. Raises ValueError."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise ValueError(Message("not_a_time_zone", name=name)) from None


def parse_cron(expression: str, start: datetime) -> CronSim:
    """The times of a cron expression after `start`, in its time zone. Raises ValueError with the reason."""
    try:
        return CronSim(expression, start)
    except CronSimError as error:
        raise ValueError(
            Message(
                "not_a_schedule", cron=expression, reason=CRON_FAULTS.get(str(error), Message("cron_not_five_fields"))
            )
        ) from None


def parse_window(line: str) -> Window:
    """The window of quiet hours that a line describes. Raises ValueError."""
    match = _WINDOW.fullmatch(line.strip().lower())
    if match:
        first, last, *digits = match.groups()
        hour, minute, end_hour, end_minute = map(int, digits)
        start, end = 60 * hour + minute, 60 * end_hour + end_minute
        known = {first, last} <= {None, *DAYS}
        if known and minute < 60 and end_minute < 60 and start < MINUTES_A_DAY and end <= MINUTES_A_DAY:
            return Window(_days(first, last or first), start, end)
    raise ValueError(Message("not_quiet_hours", line=line))


def example_times(expression: str, zone: str) -> list[datetime]:
    """The next three times of a schedule; empty if it has none within cronsim's horizon. Raises ValueError."""
    times = parse_cron(expression, datetime.now(UTC).astimezone(parse_zone(zone)))
    return [time for time, _ in zip(times, range(3), strict=False)]


def _days(first: str | None, last: str | None) -> tuple[int, ...]:
    if first is None or last is None:
        return tuple(range(len(DAYS)))
    start, length = DAYS.index(first), (DAYS.index(last) - DAYS.index(first)) % len(DAYS) + 1
    return tuple((start + step) % len(DAYS) for step in range(length))
