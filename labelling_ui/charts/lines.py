"""Lines over common places."""

from collections.abc import Sequence

from labelling_ui.charts.axes import Axis, centre, common_places, x_ticks_of
from labelling_ui.charts.chart_words import Format, describe_point, legend_of, plain, table_rows
from labelling_ui.charts.pieces import Chart, Mark, Series, Stroke


def line_chart(
    title: str,
    series: Sequence[Series],
    *,
    places: str,
    form: Format = plain,
    bottom: float | None = 0.0,
    top: float | None = None,
) -> Chart:
    """Lines with dots over common places; whiskers where points have an interval.

    `places` heads the first column of the table. Without `bottom` or `top` the values decide.
    """
    labels = common_places(series)
    known = [v for s in series for p in s.points for v in (p.value, p.low, p.high) if v is not None]
    if not known:
        return Chart(title)
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
        for x, point in plotted:
            if point.low is not None and point.high is not None:
                low, high = (100 - axis.place(bound) for bound in (point.low, point.high))
                lines.append(Stroke(f"{line.look} whisker", f"M{x:.2f} {low:.2f} V{high:.2f}"))
            tooltip = f"{line.name}, {point.label}: {describe_point(point, form)}"
            dots.append(Mark(line.look, x, axis.place(point.value or 0.0), title=tooltip, href=point.href))
    return Chart(
        title,
        legend=legend_of(series),
        x_ticks=x_ticks_of(labels),
        y_ticks=axis.ticks(form),
        lines=lines,
        dots=dots,
        header=[places, *(s.name for s in series)],
        rows=table_rows(labels, series, form),
    )
