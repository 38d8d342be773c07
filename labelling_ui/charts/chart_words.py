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


def told_of(point: Point, form: Format) -> str:
    told = "–" if point.value is None else form(point.value)
    if point.low is not None and point.high is not None:
        bounds = {"low": form(point.low), "high": form(point.high)}
        told += " ({})".format(_("%(low)s to %(high)s") % bounds)
    return f"{told} {point.note}".strip()


def rows_of(labels: Sequence[str], series: Sequence[Series], form: Format) -> list[list[str]]:
    by_label = [{p.label: p for p in s.points} for s in series]
    return [[label, *(told_of(one[label], form) if label in one else "–" for one in by_label)] for label in labels]
