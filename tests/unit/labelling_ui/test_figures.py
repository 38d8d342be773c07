"""The filters of figures."""

from datetime import UTC, datetime

import pytest
from django.utils.translation import override

from labelling_ui.templatetags import figures


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (None, "–"),
        (0, "0 s"),
        (0.84, "840 ms"),
        (1.554, "1.6 s"),
        (4, "4 s"),
        (12.4, "12 s"),
        (252, "4.2 min"),
        (11_160, "3.1 h"),
        (216_000, "2.5 days"),
    ],
)
def test_durations(seconds: float | None, told: str) -> None:
    assert figures.duration(seconds) == told


@pytest.mark.parametrize(
    ("amount", "told"),
    [(None, "–"), (0, "0.00"), (12.5, "12.50"), (0.3069, "0.31"), (0.0169, "0.017"), (5e-5, "0.000050")],
)
def test_amounts_of_money(amount: float | None, told: str) -> None:
    assert figures.money(amount) == told


def test_counts_shares_and_differences() -> None:
    assert figures.count(1234567) == "1,234,567"
    assert figures.percent(0.4231) == "42\xa0%"
    assert figures.hundredths(0.6234) == "62.3"
    assert figures.points(-0.0312) == "−3.1"
    assert figures.bytes_of(1536) == "1.5 kB"
    assert figures.count(None) == figures.percent(None) == figures.points(None) == "–"


def test_a_time_is_utc_until_the_reader_s_zone_is_known() -> None:
    told = figures.when(datetime(2026, 11, 21, 5, 4, tzinfo=UTC))
    assert told == '<time datetime="2026-11-21T05:04:00+00:00" data-local>21 Nov 2026, 05:04 UTC</time>'


def test_a_share_is_never_more_than_all() -> None:
    assert figures.share_of(5, 4) == 1.0
    assert figures.share_of(None, 4) == figures.share_of(1, 0) == 0.0


def test_each_language_writes_figures_its_own_way() -> None:
    with override("de"):
        assert figures.count(1234567) == "1.234.567"
        assert figures.duration(252) == "4,2 min"
        assert figures.points(-0.0312) == "−3,1"
        assert figures.percent(12.3456, 1) == "1.234,6\xa0%"
        assert figures.bar(1, 8, "") == {"percent": 12.5, "label": ""}
        assert "21. Nov 2026, 05:04 UTC" in figures.when(datetime(2026, 11, 21, 5, 4, tzinfo=UTC))


def test_a_long_word_may_break_and_a_short_one_not() -> None:
    assert figures.breakable("ana maria of the accounts department") == "ana maria of the accounts department"
    assert figures.breakable("<" * 40) == f'<span class="long">{"&lt;" * 40}</span>'
    assert figures.breakable(None) is None
