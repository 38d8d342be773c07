"""The numbers of a chart in words: its legend, its titles, and its table."""

from collections.abc import Callable, Sequence

from django.utils.translation import gettext as _

from labelling_ui.charts.pieces import Point, Series
from labelling_ui.numbers import decimal, short

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
