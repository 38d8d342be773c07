"""Charts as data: places in a plot of 100 by 100, which the templates draw as SVG and HTML.

Labels are HTML beside the drawing, so that text keeps its size on every screen, and every chart has its
numbers as a table. Pure functions: values in, a `Chart` out; y grows upwards.
"""

from labelling_ui.charts.columns import bar_chart, share_chart
from labelling_ui.charts.gain import gain_chart
from labelling_ui.charts.lines import line_chart
from labelling_ui.charts.pieces import Chart, Point, Series

__all__ = ["Chart", "Point", "Series", "bar_chart", "gain_chart", "line_chart", "share_chart"]
