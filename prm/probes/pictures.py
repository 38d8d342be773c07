"""Draws probe reports (matplotlib; the extension of the path selects the format)."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from prm.evaluation.metrics import Metric
from prm.probes.faithfulness import Part
from prm.probes.faithfulness import Report as Faithfulness
from prm.probes.overoptimisation import Overoptimisation

BLUE, ORANGE, GREEN, RED, GREY = "#1f6fb4", "#d9822b", "#2f8f4e", "#b8332b", "#777777"


def draw_overoptimisation(report: Overoptimisation, path: Path) -> None:
    """Draw a column per rule: score and correctness of the chosen solution, and fooled choices, against N."""
    figure = Figure(figsize=(3.2 * len(report.curves), 5.6), layout="constrained")
    axes = figure.subplots(2, len(report.curves), sharex=True, sharey="row", height_ratios=(3, 1.4), squeeze=False)
    for column, (rule, curve) in enumerate(report.curves.items()):
        above, below = axes[0][column], axes[1][column]
        above.set_title(rule)
        _line(above, report.sizes, curve.proxy, "score of the chosen", ORANGE, "--")
        _line(above, report.sizes, curve.outcome, "answer right", BLUE)
        if curve.sound is not None:
            _line(above, report.sizes, curve.sound, "every step true", GREEN)
        _line(above, report.sizes, report.oracle, "oracle", GREY, ":")
        _line(above, report.sizes, report.majority, "majority", GREY, "-.")
        above.axvline(curve.best_n, color=BLUE, linewidth=0.8, alpha=0.5)
        _line(below, report.sizes, curve.fooled, f"wrong, yet scored above {curve.bar:.2f}", RED)
        below.set_xlabel("N")
        below.legend(fontsize=7, frameon=False)
    axes[0][0].set_xscale("log", base=2)
    axes[0][0].set_xticks(report.sizes, [str(n) for n in report.sizes])
    axes[0][0].set_ylim(0, 1.02)
    axes[0][-1].legend(fontsize=7, frameon=False)
    axes[1][0].set_ylim(bottom=0)
    axes[1][0].set_ylabel("fooled")
    _save(figure, path)


def draw_faithfulness(report: Faithfulness, path: Path) -> None:
    """Draw how often the answer changes, by steps remaining and by domain, and how often the PRM notices."""
    figure = Figure(figsize=(9.5, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3, sharey=True)
    _bars(left, report.by_remaining, ("moved", "moved_control"), "steps still to come")
    _bars(middle, report.by_domain, ("moved", "moved_control"), "domain")
    _bars(right, report.by_remaining, ("noticed", "moved_unseen"), "steps still to come")
    left.set_ylim(0, 1.02)
    left.set_ylabel("share")
    _save(figure, path)


def _save(figure: Figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)


LABELS = {
    "moved": ("answer moves: step falsified", BLUE),
    "moved_control": ("answer moves: step as it was", GREY),
    "noticed": ("PRM fails the false step", GREEN),
    "moved_unseen": ("answer moves, PRM passes it", RED),
}


def _bars(axes: Any, parts: dict[str, Part], names: Sequence[str], along: str) -> None:
    width = 0.8 / len(names)
    for offset, name in enumerate(names):
        known = [
            (k, getattr(part, name)) for k, part in enumerate(parts.values()) if getattr(part, name).value is not None
        ]
        places = [k + (offset - (len(names) - 1) / 2) * width for k, _ in known]
        heights = [metric.value for _, metric in known]
        error = [
            [metric.value - _or(metric.low, metric) for _, metric in known],
            [_or(metric.high, metric) - metric.value for _, metric in known],
        ]
        label, colour = LABELS[name]
        axes.bar(places, heights, width, yerr=error, color=colour, label=label, error_kw={"linewidth": 0.9})
    axes.set_xticks(range(len(parts)), list(parts))
    axes.set_xlabel(along)
    axes.legend(fontsize=7, frameon=False, loc="lower left", bbox_to_anchor=(0, 1))


def _line(axes: Any, sizes: Sequence[int], metrics: Sequence[Metric], name: str, colour: str, style: str = "-") -> None:
    axes.plot(sizes, [metric.value for metric in metrics], style, color=colour, label=name, linewidth=1.4)
    low, high = ([_or(bound, m) for m in metrics for bound in [getattr(m, side)]] for side in ("low", "high"))
    axes.fill_between(sizes, low, high, color=colour, alpha=0.12, linewidth=0)


def _or(bound: float | None, metric: Metric) -> float | None:
    return metric.value if bound is None else bound
