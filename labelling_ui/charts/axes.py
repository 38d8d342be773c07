"""Positions of values and places in the plot, and the labels of its axes."""

import math
from collections.abc import Sequence

from labelling_ui.charts.chart_words import Format
from labelling_ui.charts.pieces import Series, Tick

MANY_LABELS = 8


class Axis:
    """Values to places 0 to 100, with round ticks."""

    def __init__(self, bottom: float, top: float, *, least_step: float = 0.0) -> None:
        top = top if top > bottom else bottom + 1
        self.marks = round_steps(bottom, top, 4, outside=True, least=least_step)
        self.bottom, self.top = self.marks[0], self.marks[-1]

    def place(self, value: float | None) -> float:
        return 100 * ((value or 0.0) - self.bottom) / (self.top - self.bottom)

    def ticks(self, form: Format) -> list[Tick]:
        return [Tick(self.place(mark), form(mark)) for mark in self.marks]


def round_steps(bottom: float, top: float, wanted: int, *, outside: bool = False, least: float = 0.0) -> list[float]:
    """Round values from bottom to top, about `wanted` of them; with `outside` they enclose both ends."""
    raw = max((top - bottom) / wanted, least)
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(size * m for m in (1, 2, 2.5, 5, 10) if size * m >= raw * 0.999)
    first = math.floor(bottom / step + 1e-9) if outside else math.ceil(bottom / step - 1e-9)
    last = math.ceil(top / step - 1e-9) if outside else math.floor(top / step + 1e-9)
    return [round(i * step, 10) for i in range(first, last + 1)]


def common_places(series: Sequence[Series]) -> list[str]:
    """The places of all series, each once, in an order consistent with every series."""
    merged: list[str] = []
    for line in series:
        position = 0  # after the latest place of this series
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
