"""The forecast of a project's last day of labelling."""

from datetime import UTC, date, datetime, timedelta

import pytest
from django.utils import timezone

from labelling_ui.selectors.progress import forecast, progress_of
from tests.factories import QueueItemFactory

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("remaining", "counts", "day"),
    [
        (30, (99, 0, 0, 0, 0, 0, 10, 5), date(2026, 3, 15)),
        (0, (5,), None),
        (30, (99, 0, 0, 0, 0, 0, 0, 0), None),
        (30, (0, 0, 0, 0, 0, 0, 0, 0, 10), date(2026, 3, 4)),
        (30, (0, 0, 0, 0, 0, 0, 0, 10, 5), date(2026, 3, 5)),
        (10_000_000, (1,), date(9999, 12, 30)),
    ],
)
def test_the_forecast_is_at_the_pace_of_seven_days_or_since_the_first_label_and_always_a_date(remaining, counts, day):
    labels = [(NOW.date() - timedelta(days=back), n) for back, n in enumerate(reversed(counts))]
    assert forecast(remaining=remaining, labels=labels[::-1], now=NOW) == day


@pytest.mark.django_db
@pytest.mark.parametrize(("zone", "day"), [("UTC", date(2026, 3, 1)), ("Asia/Tokyo", date(2026, 3, 2))])
def test_the_forecast_is_a_day_of_the_readers_time_zone(monkeypatch, zone, day):
    item = QueueItemFactory(wanted=1)
    monkeypatch.setattr(timezone, "now", lambda: datetime(2026, 3, 1, 16, tzinfo=UTC))
    with timezone.override(zone):
        assert progress_of(item.generation.project, [(day, 1_000)]).finished_on == day
