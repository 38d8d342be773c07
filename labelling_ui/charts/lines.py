"""Lines over common places."""

from collections.abc import Sequence

from labelling_ui.charts.axes import Axis, centre, common_places, x_ticks_of
from labelling_ui.charts.chart_words import Format, legend_of, plain, rows_of, told_of
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
    for one in series:
        at = {p.label: p for p in one.points if p.value is not None}
        places_of = [(centre(i, len(labels)), at[label]) for i, label in enumerate(labels) if label in at]
        path = " ".join(
            f"{'L' if i else 'M'}{x:.2f} {100 - axis.place(p.value):.2f}"
            for i, (x, p) in enumerate(places_of)
            if p.value is not None
        )
        lines.append(Stroke(one.look, path))
        for x, point in places_of:
            if point.low is not None and point.high is not None:
                low, high = (100 - axis.place(bound) for bound in (point.low, point.high))
                lines.append(Stroke(f"{one.look} whisker", f"M{x:.2f} {low:.2f} V{high:.2f}"))
            told = f"{one.name}, {point.label}: {told_of(point, form)}"
            dots.append(Mark(one.look, x, axis.place(point.value or 0.0), title=told, href=point.href))
    return Chart(
        title,
        legend=legend_of(series),
        x_ticks=x_ticks_of(labels),
        y_ticks=axis.ticks(form),
        lines=lines,
        dots=dots,
        header=[places, *(s.name for s in series)],
        rows=rows_of(labels, series, form),
    )
