"""Renders the report as one self-contained HTML file, without scripts, fonts or separate pictures.

Charts are inline SVG with the page's own colours, so that one picture serves light and dark mode.
"""

import io
import re
from collections.abc import Sequence
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Drawing

from prm.audits.finding import Chart, Figure, Finding, Series
from prm.audits.report import AuditReport
from prm.evaluation.metrics import Metric, in_parts

TEMPLATE = "report.html.j2"


def report_page(report: AuditReport) -> str:
    """The report as HTML: verdicts first, then each audit with its checks, charts and numbers."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    environment.globals |= {"in_parts": in_parts, "pictures": _pictures, "tables": _tables}
    return environment.get_template(TEMPLATE).render(report=report)


def _pictures(finding: Finding) -> list[tuple[str, Markup]]:
    """Title and picture of every chart; matplotlib escapes their texts."""
    return [(chart.title, Markup(draw(chart, f"{finding.audit}-{k}"))) for k, chart in enumerate(finding.charts)]


def _tables(finding: Finding) -> list[tuple[str, bool, list[Figure]]]:
    """Figures by group, and whether the group has baselines."""
    groups = [(name, list(figures)) for name, figures in groupby(finding.figures, key=lambda figure: figure.group)]
    return [(name, any(figure.index_only for figure in figures), figures) for name, figures in groups]


WIDTH = 4.8  # inches; at 72 points each the text keeps its size on a narrow screen
ROW, MARGIN, LEGEND = 0.21, 0.62, 0.28  # inches of height: a row of dots, the axis, the legend
LINES_HEIGHT = 3.2
INK, MUTED, RULE = "#010101", "#020202", "#030303"
SERIES = ("#0a0001", "#0a0002", "#0a0003")
BASELINES = {"position alone": "s", "length alone": "D"}  # drawn hollow and muted
MARKERS = ("o", "^", "v")
VARIABLES = {INK: "--text", MUTED: "--muted", RULE: "--line"} | {
    colour: f"--series-{k}" for k, colour in enumerate(SERIES, start=1)
}
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "prm",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": RULE,
    "xtick.color": MUTED,
    "ytick.color": RULE,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "legend.labelcolor": INK,
}


def draw(chart: Chart, prefix: str) -> str:
    """The chart as an SVG element; `prefix` makes its ids unique on the page."""
    with matplotlib.rc_context(STYLE):
        figure = Drawing(figsize=(WIDTH, _height(chart)), layout="constrained")
        axes = figure.subplots()
        if chart.kind == "dots":
            _dots(axes, chart)
        else:
            _lines(axes, chart)
        if len(chart.series) > 1:
            figure.legend(loc="outside upper left", ncols=len(chart.series), handletextpad=0.3, columnspacing=1.2)
        out = io.StringIO()
        figure.savefig(out, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return _for_page(out.getvalue(), chart, prefix)


def _height(chart: Chart) -> float:
    if chart.kind == "lines":
        return LINES_HEIGHT
    n_series = len(chart.series)
    return MARGIN + (LEGEND if n_series > 1 else 0) + len(_names(chart)) * (ROW * n_series + 0.1)


def _names(chart: Chart) -> list[str]:
    """All names of a chart of dots, in order of appearance."""
    return list(dict.fromkeys(str(name) for series in chart.series for name in series.x))


def _dots(axes: Axes, chart: Chart) -> None:
    names = _names(chart)
    gap = ROW / (ROW * len(chart.series) + 0.1)
    for k, series in enumerate(chart.series):
        offset = (k - (len(chart.series) - 1) / 2) * gap
        places = np.array([names.index(str(name)) + offset for name in series.x])
        _points(axes, series, k, places, along_y=True)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(chart.value)
    axes.grid(axis="x", color=RULE, linewidth=0.6)
    if chart.span:
        axes.set_xlim(chart.span[0] - 0.02, chart.span[1] + 0.02)
    if chart.reference is not None:
        axes.axvline(chart.reference, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_axisbelow(True)


def _lines(axes: Axes, chart: Chart) -> None:
    for k, series in enumerate(chart.series):
        places = np.array([float(x) for x in series.x])
        _points(axes, series, k, places, along_y=False)
        known = [(x, one.value) for x, one in zip(places, series.y, strict=True) if one.value is not None]
        axes.plot([x for x, _ in known], [y for _, y in known], color=_colour(series, k), linewidth=1)
    if chart.diagonal:
        axes.axline((0, 0), slope=1, color=MUTED, linewidth=1, linestyle=(0, (4, 3)))
    axes.set_xlabel(chart.along)
    axes.set_ylabel(chart.value)
    axes.grid(color=RULE, linewidth=0.6)
    if chart.span:
        axes.set_xlim(chart.span[0] - 0.02, chart.span[1] + 0.02)
        axes.set_ylim(chart.span[0] - 0.02, chart.span[1] + 0.02)
    axes.set_axisbelow(True)


def _points(axes: Axes, series: Series, k: int, places: np.ndarray, *, along_y: bool) -> None:
    """Draw values with their intervals along the value axis."""
    known = [i for i, one in enumerate(series.y) if one.value is not None]
    values = np.array([series.y[i].value for i in known], dtype=float)
    reach = _reach([series.y[i] for i in known])
    at = places[known]
    x, y = (values, at) if along_y else (at, values)
    colour = _colour(series, k)
    axes.errorbar(
        x,
        y,
        xerr=reach if along_y else None,
        yerr=None if along_y else reach,
        fmt=BASELINES.get(series.name, MARKERS[k % len(MARKERS)]),
        color=colour,
        markerfacecolor="none" if series.name in BASELINES else colour,
        markersize=4 if series.name in BASELINES else 5.5,
        elinewidth=1 if series.name in BASELINES else 1.6,
        label=series.name,
    )


def _reach(metrics: Sequence[Metric]) -> np.ndarray:
    """The extent of the intervals below and above the values, [2, n]; 0 without an interval."""
    below = [0.0 if m.low is None or m.value is None else max(0.0, m.value - m.low) for m in metrics]
    above = [0.0 if m.high is None or m.value is None else max(0.0, m.high - m.value) for m in metrics]
    return np.array([below, above])


def _colour(series: Series, k: int) -> str:
    return MUTED if series.name in BASELINES else SERIES[k % len(SERIES)]


def _for_page(document: str, chart: Chart, prefix: str) -> str:
    """The SVG element alone, with a label for screen readers and the page's colours and font."""
    svg = document[document.index("<svg") :]
    svg = re.sub(r"<style.*?</style>", "", svg, flags=re.DOTALL)  # it would style the whole page
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r'(href="#|url\(#)([^")]+)', rf"\1{prefix}-\2", svg)
    svg = re.sub(r"font-family: [^;\"]+", "font-family: var(--font)", svg)
    for colour, variable in VARIABLES.items():
        svg = svg.replace(colour, f"var({variable})")
    named = f'<svg role="img" aria-label="{escape(chart.title)}: the numbers are in the table" stroke-linejoin="round" '
    return svg.replace("<svg ", named, 1)
