"""The parts of a chart."""

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Point:
    """One value of a series at place `label`; `low` and `high` bound its interval where there is one."""

    label: str
    value: float | None
    low: float | None = None
    high: float | None = None
    note: str = ""
    href: str = ""


@dataclass(frozen=True)
class Series:
    """`look` names its colour and line in charts.css."""

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
    title: str
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
