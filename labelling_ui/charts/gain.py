"""The gate's decision as a picture."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from labelling_ui.charts.axes import round_steps
from labelling_ui.charts.pieces import Chart, Mark, Stroke, Tick
from labelling_ui.numbers import short, signed


def gain_chart(
    title: str, samples: Sequence[float], *, gain: float, low: float, high: float, tolerance: float
) -> Chart:
    """The gate as a picture: bootstrap draws of the gain (shares) in bins of points, its interval, the tolerance."""
    values = [100 * s for s in samples] or [100 * low, 100 * gain, 100 * high]
    least, most = min([*values, -100 * tolerance, 0.0]), max([*values, 0.0])
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
        x_ticks=[Tick(across(at), _change(at)) for at in round_steps(least, most, 6)],
        bars=bars,
        lines=[Stroke("interval", f"M{across(100 * low):.2f} 5 H{across(100 * high):.2f}")],
        dots=[Mark("interval", across(100 * gain), 95.0, title=signed(100 * gain, 1))],
        rules=[Tick(across(0.0), ""), Tick(across(-100 * tolerance), f"−{short(100 * tolerance)}")],
        header=["", ""],
        rows=[[_("gain"), signed(100 * gain, 1)], ["95 %", f"{signed(100 * low, 1)} … {signed(100 * high, 1)}"]],
    )


def _change(value: float) -> str:
    if not value:
        return "0"
    return ("−" if value < 0 else "+") + short(abs(value))
