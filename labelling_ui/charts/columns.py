"""Columns: values side by side, and shares on top of one another."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from labelling_ui.charts.axes import Axis, common_places, x_ticks_of
from labelling_ui.charts.chart_words import Format, describe_point, legend_of, plain, table_rows
from labelling_ui.charts.pieces import Chart, Mark, Series, Tick
from labelling_ui.numbers import decimal


def bar_chart(title: str, series: Series, *, places: str, form: Format = plain, least_step: float = 0.0) -> Chart:
    """One bar a place; with a `least_step` of 1 the ticks are whole numbers."""
    known = [p.value for p in series.points if p.value]
    if not known:
        return Chart(title)
    axis = Axis(0.0, max(known), least_step=least_step)
    slot = 100 / len(series.points)
    bars = [
        Mark(
            series.look,
            slot * (i + 0.14),
            0.0,
            slot * 0.72,
            axis.place(p.value or 0.0),
            title=f"{p.label}: {describe_point(p, form)}",
            href=p.href,
        )
        for i, p in enumerate(series.points)
        if p.value
    ]
    labels = [p.label for p in series.points]
    return Chart(
        title,
        x_ticks=x_ticks_of(labels),
        y_ticks=axis.ticks(form),
        bars=bars,
        header=[places, series.name],
        rows=table_rows(labels, [series], form),
    )


def share_chart(title: str, series: Sequence[Series], *, places: str) -> Chart:
    """Stacked columns of counts, each column as high as the plot: the shares at each place."""
    labels = common_places(series)
    counts = [{p.label: p.value or 0.0 for p in s.points} for s in series]
    totals = [sum(by_label.get(label, 0.0) for by_label in counts) for label in labels]
    if not any(totals):
        return Chart(title)
    slot = 100 / len(labels)
    bars = []
    for i, (label, total) in enumerate(zip(labels, totals, strict=True)):
        base = 0.0
        for part, count in zip(series, counts, strict=True):
            value = count.get(label, 0.0)
            height = 100 * value / total if total else 0.0
            if height:
                of = _("%(n)s of %(all)s") % {"n": decimal(value), "all": decimal(total)}
                tooltip = f"{label}: {part.name} {decimal(height)} % ({of})"
                bars.append(Mark(part.look, slot * (i + 0.1), base, slot * 0.8, height, title=tooltip))
            base += height
    return Chart(
        title,
        legend=legend_of(series),
        x_ticks=x_ticks_of(labels),
        y_ticks=[Tick(at, f"{at} %") for at in (0, 50, 100)],
        bars=bars,
        header=[places, *(s.name for s in series)],
        rows=table_rows(labels, series, plain),
    )
