"""Charts: values to places in a plot of 100 by 100."""

import pytest

from labelling_ui.charts import Point, Series, bar_chart, gain_chart, line_chart, share_chart


def series(*values: float | None, name: str = "labels", look: str = "first") -> Series:
    return Series(name, look, [Point(str(n), value) for n, value in enumerate(values)])


def test_no_value_is_an_empty_chart() -> None:
    assert line_chart("Loss", [series()], help="Why.", places="step").empty
    assert bar_chart("Labels", series(0, 0), help="Why.", places="day").empty
    assert share_chart("Ratings", [series()], help="Why.", places="step").empty


def test_bars_stand_on_the_ground_and_reach_their_tick() -> None:
    chart = bar_chart("Labels", series(0, 5, 10), help="Why.", places="day")
    assert [round(bar.height) for bar in chart.bars] == [50, 100]
    assert [tick.label for tick in chart.y_ticks] == ["0", "5", "10"]
    assert [tick.label for tick in bar_chart("Labels", series(2), help="Why.", places="day").y_ticks] == [
        "0",
        "1",
        "2",
    ]


def test_a_gap_in_a_line_is_bridged_and_said_in_the_table() -> None:
    chart = line_chart("F1", [series(0.2, None, 0.4)], help="Why.", places="model", top=1.0)
    assert chart.lines[0].path == "M16.67 80.00 L83.33 60.00"
    assert chart.rows == [["0", "0.2"], ["1", "–"], ["2", "0.4"]]


@pytest.mark.parametrize(
    ("first", "second", "places"),
    [
        ("1", "01", "01"),
        ("01", "1", "01"),
        ("13", "0123", "0123"),
        ("024", "13", "13024"),
        ("01", "12", "012"),
        ("", "0", "0"),
    ],
)
def test_places_stand_in_the_order_of_every_line(first: str, second: str, places: str) -> None:
    lines = [Series(name, "first", [Point(place, 1.0) for place in name]) for name in (first, second)]
    assert [row[0] for row in line_chart("Errors", lines, help="Why.", places="generation").rows] == list(places)


def test_an_interval_is_a_whisker() -> None:
    points = [Point("model 1", 0.5, 0.25, 0.75)]
    chart = line_chart("F1", [Series("trained", "first", points)], help="Why.", places="model", top=1.0)
    assert chart.lines[1].path == "M50.00 75.00 V25.00"
    assert chart.rows == [["model 1", "0.5 (0.25 to 0.75)"]]


def test_intervals_of_a_line_are_a_band_that_bridges_points_without_one() -> None:
    points = [Point("1", 0.5, 0.25, 0.75), Point("2", 0.5), Point("3", 0.5, 0.5, 1.0)]
    chart = line_chart("F1", [Series("trained", "first", points)], help="Why.", places="week", top=1.0, band=True)
    assert [(line.look, line.path) for line in chart.lines[1:]] == [
        ("first band", "M16.67 25.00 L83.33 0.00 L83.33 50.00 L16.67 75.00 Z")
    ]
    single = line_chart("F1", [Series("trained", "first", points[:1])], help="Why.", places="week", top=1.0, band=True)
    assert single.lines[1].look == "first whisker"


def test_shares_fill_each_column() -> None:
    chart = share_chart(
        "Ratings", [series(3, 1, name="good", look="good"), series(1, name="bad")], help="Why.", places="step"
    )
    assert [(bar.y, bar.height) for bar in chart.bars] == [(0.0, 75.0), (75.0, 25.0), (0.0, 100.0)]


def test_draws_of_the_gate_are_told_apart_by_what_they_mean() -> None:
    chart = gain_chart("Gain", [-0.05, -0.01, 0.02, 0.02], help="Why.", gain=0.0, low=-0.05, high=0.02, tolerance=0.02)
    assert [bar.look for bar in chart.bars] == ["worse", "even", "better"]
    assert chart.bars[-1].height == 88
    assert [rule.label for rule in chart.rules] == ["", "−2"]
