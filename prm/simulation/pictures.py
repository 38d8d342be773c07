"""Draws learning curves (matplotlib; the extension of the path selects the format)."""

from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from prm.messages import write_share
from prm.simulation.plan import arm_name
from prm.simulation.report import AXES, Comparison, Report, is_base

GREY = "#777777"
COLOURS = ("#1f6fb4", "#d9822b", "#2f8f4e", "#b8332b", "#7b5aa6", "#0f8b8d", "#a0527a", "#6b7a1e", "#3d5a80", "#8c6d46")
NAMES = {"solutions": "solutions labelled", "steps": "steps read", "seconds": "simulated hours"}
SECONDS_AN_HOUR = 3600


def draw_curves(report: Report, path: Path) -> None:
    """Draw a row for each world and noise: F1 against solutions, steps and hours, with 95 % bands by function."""
    plan = report.plan
    groups = [
        (world, noise, rows)
        for world in plan.worlds
        for noise in plan.noises
        if (rows := [one for one in report.comparisons if (one.world, one.noise) == (world, noise)])
    ]
    if not groups:
        return
    figure = Figure(figsize=(10.5, 3.0 * len(groups) + 0.5), layout="constrained")
    grid = figure.subplots(len(groups), len(AXES), squeeze=False, sharey="row")
    for row, (world, noise, comparisons) in zip(grid, groups, strict=True):
        for axes, axis in zip(row, AXES, strict=True):
            for one in comparisons:
                _line(axes, one, axis, _colour(one, comparisons))
            axes.set_xlabel(NAMES[axis])
            axes.grid(color="#dddddd", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        row[0].set_ylabel("ProcessBench F1")
        row[0].set_title(world + (f", {write_share(noise)} wrong verdicts" if noise else ""), loc="left", fontsize=10)
    handles, labels = grid[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=min(5, len(labels)), frameon=False, fontsize=9)
    figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None, dpi=150)


def _line(axes: Any, one: Comparison, axis: str, colour: str) -> None:
    x = [value / SECONDS_AN_HOUR if axis == "seconds" else value for value in one.x[axis]]
    known = [k for k, metric in enumerate(one.f1) if metric.value is not None]
    at = [x[k] for k in known]
    axes.plot(
        at,
        [one.f1[k].value for k in known],
        color=colour,
        marker="o",
        markersize=3,
        label=arm_name(one.function, one.graded),
    )
    if all(one.f1[k].low is not None for k in known):
        axes.fill_between(
            at, [one.f1[k].low for k in known], [one.f1[k].high for k in known], color=colour, alpha=0.12, linewidth=0
        )


def _colour(one: Comparison, comparisons: list[Comparison]) -> str:
    if is_base(one):
        return GREY
    others = [arm_name(other.function, other.graded) for other in comparisons if not is_base(other)]
    return COLOURS[others.index(arm_name(one.function, one.graded)) % len(COLOURS)]
