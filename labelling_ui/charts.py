"""Charts as data: positions in a plot of 100 by 100, which the templates draw as SVG and HTML.

Labels are HTML beside the drawing, so that text keeps its size on every screen, and every chart has its
numbers as a table. Pure functions: values in, a `Chart` out; y grows upwards.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from annotation.core.wording import write_number
from labelling_ui.numbers import decimal, percent, short, signed


@dataclass(frozen=True)
class Point:
    """One value of a series at `label`; `low` and `high` bound its interval, if it has one."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    href: str = ""


@dataclass(frozen=True)
class Place:
    """A point of a scatter chart: `across` and `value`, the latter with its interval."""

    label: str
    across: float
    value: float
    low: float | None = None
    high: float | None = None
    look: str = "first"
    href: str = ""


@dataclass(frozen=True)
class Series:
    """A named series of points; `look` names its colour and line in charts.css."""

    name: str
    look: str
    points: Sequence[Point]


@dataclass(frozen=True)
class Tick:
    at: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A dot or a bar: its centre or left edge `x`, its base `y`, and its size."""

    look: str
    x: float
    y: float
    width: float = 0.0
    height: float = 0.0
    title: str = ""
    href: str = ""


@dataclass(frozen=True)
class Stroke:
    look: str
    path: str


@dataclass(frozen=True)
class Chart:
    """A plot with its axes. `help` explains it in a sentence; `term` is the glossary's key of the title.

    `no_values` is the text that replaces a plot without values.
    """

    title: str
    help: str
    no_values: str = ""
    term: str = ""
    legend: list[tuple[str, str]] = field(default_factory=list)
    x_ticks: list[Tick] = field(default_factory=list)
    y_ticks: list[Tick] = field(default_factory=list)
    lines: list[Stroke] = field(default_factory=list)
    bars: list[Mark] = field(default_factory=list)
    dots: list[Mark] = field(default_factory=list)
    rules: list[Tick] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not self.rows


Format = Callable[[float], str]


def plain(value: float) -> str:
    return decimal(value) if abs(value) >= 10 or value == int(value) else short(value, 2)


def legend_of(series: Sequence[Series]) -> list[tuple[str, str]]:
    return [(s.look, s.name) for s in series] if len(series) > 1 else []


def describe_point(point: Point, form: Format) -> str:
    words = "–" if point.value is None else form(point.value)
    if point.low is not None and point.high is not None:
        bounds = {"low": form(point.low), "high": form(point.high)}
        words += " ({})".format(_("%(low)s to %(high)s") % bounds)
    return f"{words} {point.note}".strip()


def table_rows(labels: Sequence[str], series: Sequence[Series], form: Format) -> list[list[str]]:
    columns = [{p.label: describe_point(p, form) for p in s.points} for s in series]
    return [[label, *(column.get(label, "–") for column in columns)] for label in labels]


MANY_LABELS = 8


class Axis:
    """Maps values to positions from 0 to 100, with round ticks."""

    def __init__(self, bottom: float, top: float, *, least_step: float = 0.0) -> None:
        top = top if top > bottom else bottom + 1
        self.marks = round_steps(bottom, top, 4, outside=True, least=least_step)
        self.bottom, self.top = self.marks[0], self.marks[-1]

    def place(self, value: float | None) -> float:
        return 100 * ((value or 0.0) - self.bottom) / (self.top - self.bottom)

    def ticks(self, form: Format) -> list[Tick]:
        return [Tick(self.place(mark), form(mark)) for mark in self.marks]


def round_steps(bottom: float, top: float, wanted: int, *, outside: bool = False, least: float = 0.0) -> list[float]:
    """About `wanted` round values, in multiples of `least`; with `outside`, they enclose bottom and top."""
    raw = max((top - bottom) / wanted, least)
    size = 10.0 ** math.floor(math.log10(raw))
    steps = (size * m for m in (1, 2, 2.5, 5, 10))
    step = next(step for step in steps if step >= raw * 0.999 and not (least and step % least))
    first = math.floor(bottom / step + 1e-9) if outside else math.ceil(bottom / step - 1e-9)
    last = math.ceil(top / step - 1e-9) if outside else math.floor(top / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def common_places(series: Sequence[Series]) -> list[str]:
    """The labels of all series, each once, in an order consistent with every series."""
    merged: list[str] = []
    for line in series:
        position = 0  # after the latest label of this series
        for label in dict.fromkeys(p.label for p in line.points):
            if label in merged:
                position = merged.index(label) + 1
            else:
                merged.insert(position, label)
                position += 1
    return merged


def centre(index: int, count: int) -> float:
    return 100 * (index + 0.5) / count


def x_ticks_of(labels: Sequence[str]) -> list[Tick]:
    every = math.ceil(len(labels) / MANY_LABELS)
    return [Tick(centre(i, len(labels)), label) for i, label in enumerate(labels) if i % every == 0]


def bar_chart(
    title: str,
    series: Series,
    *,
    help: str,
    places: str,
    no_values: str = "",
    term: str = "",
) -> Chart:
    """A chart of counts, with one bar per label."""
    known = [p.value for p in series.points if p.value]
    if not known:
        return Chart(title, help, no_values, term)
    axis = Axis(0.0, max(known), least_step=1)
    slot = 100 / len(series.points)
    bars = [
        Mark(
            series.look,
            slot * (i + 0.14),
            0.0,
            slot * 0.72,
            axis.place(p.value or 0.0),
            title=f"{p.label}: {describe_point(p, plain)}",
            href=p.href,
        )
        for i, p in enumerate(series.points)
        if p.value
    ]
    labels = [p.label for p in series.points]
    return Chart(
        title,
        help,
        term=term,
        x_ticks=x_ticks_of(labels),
        y_ticks=axis.ticks(plain),
        bars=bars,
        header=[places, series.name],
        rows=table_rows(labels, [series], plain),
    )


def share_chart(
    title: str, series: Sequence[Series], *, help: str, places: str, no_values: str = "", term: str = ""
) -> Chart:
    """A chart of shares: stacked columns, each as high as the plot."""
    labels = common_places(series)
    counts = [{p.label: p.value or 0.0 for p in s.points} for s in series]
    totals = [sum(by_label.get(label, 0.0) for by_label in counts) for label in labels]
    if not any(totals):
        return Chart(title, help, no_values, term)
    slot = 100 / len(labels)
    bars = []
    for i, (label, total) in enumerate(zip(labels, totals, strict=True)):
        base = 0.0
        for part, count in zip(series, counts, strict=True):
            value = count.get(label, 0.0)
            share = value / total if total else 0.0
            height = 100 * share
            if share:
                of = _("%(n)s of %(all)s") % {"n": decimal(value), "all": decimal(total)}
                tooltip = f"{label}: {part.name} {percent(share)} ({of})"
                bars.append(Mark(part.look, slot * (i + 0.1), base, slot * 0.8, height, title=tooltip))
            base += height
    return Chart(
        title,
        help,
        term=term,
        legend=legend_of(series),
        x_ticks=x_ticks_of(labels),
        y_ticks=[Tick(at, percent(at / 100)) for at in (0, 50, 100)],
        bars=bars,
        header=[places, *(s.name for s in series)],
        rows=table_rows(labels, series, plain),
    )


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    help: str,
    places: str,
    no_values: str = "",
    term: str = "",
    form: Format = plain,
    bottom: float | None = 0.0,
    top: float | None = None,
    band: bool = False,
) -> Chart:
    """A chart of lines with dots over common labels, and whiskers or a `band` for points with an interval.

    `places` heads the first column of the table. Without `bottom` or `top`, the values set the range.
    """
    labels = common_places(series)
    known = [v for s in series for p in s.points for v in (p.value, p.low, p.high) if v is not None]
    if not known:
        return Chart(title, help, no_values, term)
    axis = Axis(min(known) if bottom is None else bottom, max(known) if top is None else top)
    lines, dots = [], []
    for line in series:
        by_label = {p.label: p for p in line.points if p.value is not None}
        plotted = [(centre(i, len(labels)), by_label[label]) for i, label in enumerate(labels) if label in by_label]
        path = " ".join(
            f"{'L' if i else 'M'}{x:.2f} {100 - axis.place(p.value):.2f}"
            for i, (x, p) in enumerate(plotted)
            if p.value is not None
        )
        lines.append(Stroke(line.look, path))
        bounds = [(x, p.low, p.high) for x, p in plotted if p.low is not None and p.high is not None]
        intervals = [(x, 100 - axis.place(low), 100 - axis.place(high)) for x, low, high in bounds]
        if band and len(intervals) > 1:
            edge = [f"{x:.2f} {high:.2f}" for x, _low, high in intervals]
            edge += [f"{x:.2f} {low:.2f}" for x, low, _high in reversed(intervals)]
            lines.append(Stroke(f"{line.look} band", f"M{' L'.join(edge)} Z"))
        else:
            lines += [Stroke(f"{line.look} whisker", f"M{x:.2f} {low:.2f} V{high:.2f}") for x, low, high in intervals]
        for x, point in plotted:
            tooltip = f"{line.name}, {point.label}: {describe_point(point, form)}"
            dots.append(Mark(line.look, x, axis.place(point.value or 0.0), title=tooltip, href=point.href))
    return Chart(
        title,
        help,
        term=term,
        legend=legend_of(series),
        x_ticks=x_ticks_of(labels),
        y_ticks=axis.ticks(form),
        lines=lines,
        dots=dots,
        header=[places, *(s.name for s in series)],
        rows=table_rows(labels, series, form),
    )


def scatter_chart(
    title: str,
    places: Sequence[Place],
    *,
    help: str,
    legend: list[tuple[str, str]],
    header: list[str],
    across: Format,
    form: Format,
    top: float,
    no_values: str,
) -> Chart:
    """A chart of places with their intervals. `legend` names the looks; those without a place are not shown."""
    if not places:
        return Chart(title, help, no_values)
    flat = Axis(0.0, max(place.across for place in places))
    steep = Axis(0.0, top)
    lines, dots, rows = [], [], []
    for place in places:
        x, words = flat.place(place.across), describe_point(Point("", place.value, place.low, place.high), form)
        if place.low is not None and place.high is not None:
            low, high = (100 - steep.place(bound) for bound in (place.low, place.high))
            lines.append(Stroke(f"{place.look} whisker", f"M{x:.2f} {low:.2f} V{high:.2f}"))
        tooltip = f"{place.label}: {across(place.across)}, {words}"
        dots.append(Mark(place.look, x, steep.place(place.value), title=tooltip, href=place.href))
        rows.append([place.label, across(place.across), words])
    looks = {place.look for place in places}
    return Chart(
        title,
        help,
        legend=[(look, name) for look, name in legend if look in looks],
        x_ticks=flat.ticks(across),
        y_ticks=steep.ticks(form),
        lines=lines,
        dots=dots,
        header=header,
        rows=rows,
    )


def gain_chart(
    title: str, samples: Sequence[float], *, help: str, gain: float, low: float, high: float, tolerance: float
) -> Chart:
    """A chart of the gate: a histogram of the bootstrapped gain in points, its interval and the tolerance."""
    values = [100 * s for s in samples] or [100 * low, 100 * gain, 100 * high]
    least, most = min([*values, 100 * low, -100 * tolerance, 0.0]), max([*values, 100 * high, 0.0])
    pad = max(most - least, 1.0) * 0.04
    least, most = least - pad, most + pad
    bins = 40
    width = (most - least) / bins
    counts = [0] * bins
    for value in values:
        counts[min(int((value - least) / width), bins - 1)] += 1

    def across(value: float) -> float:
        return 100 * (value - least) / (most - least)

    bars = []
    for i, n in enumerate(counts):
        middle = least + (i + 0.5) * width
        look = "worse" if middle < -100 * tolerance else "even" if middle <= 0 else "better"
        if n:
            tooltip = f"{signed(middle, 1)}: {n}"
            bars.append(Mark(look, i * 100 / bins + 0.2, 0.0, 100 / bins - 0.4, 88 * n / max(counts), tooltip))
    return Chart(
        title,
        help,
        term="f1",
        x_ticks=[Tick(across(at), _change(at)) for at in round_steps(least, most, 6)],
        bars=bars,
        lines=[Stroke("interval", f"M{across(100 * low):.2f} 5 H{across(100 * high):.2f}")],
        dots=[Mark("interval", across(100 * gain), 95.0, title=signed(100 * gain, 1))],
        rules=[Tick(across(0.0), ""), Tick(across(-100 * tolerance), short(-100 * tolerance))],
        header=["", ""],
        rows=[
            [_("gain"), signed(100 * gain, 1)],
            [_("interval over all rounds"), f"{signed(100 * low, 1)} … {signed(100 * high, 1)}"],
        ],
    )


def _change(value: float) -> str:
    return write_number(value, "+.6g") if value else "0"
