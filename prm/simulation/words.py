"""Formats a simulation's report as Markdown tables. No torch."""

from collections.abc import Sequence

from prm.cards import markdown_table
from prm.evaluation.metrics import Metric, format_metric
from prm.messages import write_share
from prm.simulation.plan import arm_name
from prm.simulation.report import Comparison, Report, is_base

HEAD = (
    "function",
    "seeds",
    "ProcessBench F1 at the end",
    "steps read",
    "called wrong",
    "area gained, by solutions",
    "seeds better",
    "fewer solutions",
    "fewer by choosing",
    "fewer steps",
    "fewer seconds",
    "at random's end: solutions",
    "steps",
)


def overview(report: Report) -> str:
    """A table of how many times fewer solutions than random each function needs (`Saving.mean`), by world.

    **Bold** if the interval is above 1, _italic_ if it is below, "≤" if a level was never reached.
    """
    plan = report.plan
    parts = []
    for noise in plan.noises:
        comparisons = {
            (one.world, arm_name(one.function, one.graded)): one for one in report.comparisons if one.noise == noise
        }
        names = dict.fromkeys(name for (_, name), one in comparisons.items() if not is_base(one))
        rows = [[name, *(_glance(comparisons.get((world, name))) for world in plan.worlds)] for name in names]
        parts.append(f"### Fewer solutions{_noise(noise)}\n\n{markdown_table(('function', *plan.worlds), rows)}")
    return "\n\n".join(parts)


def table(report: Report) -> str:
    """One table for each world and noise, with one row per function.

    "Fewer by choosing" compares with random with the same weight of graded answers.
    """
    plan = report.plan
    parts = []
    for world in plan.worlds:
        for noise in plan.noises:
            rows = [one for one in report.comparisons if (one.world, one.noise) == (world, noise)]
            if rows:
                parts.append(f"### {world}{_noise(noise)}\n\n{markdown_table(HEAD, [_line(one) for one in rows])}")
    trainings = report.arms * len(plan.budgets)
    cost = f"Trainings: {trainings}, in {report.cost_seconds / 60:.0f} minutes of one core."
    return "\n\n".join([*parts, cost])


def _line(one: Comparison) -> Sequence[str]:
    cells = [arm_name(one.function, one.graded), str(len(one.seeds)), format_metric(one.f1[-1])]
    cells += [f"{one.x['steps'][-1]:.0f}", f"{one.erroneous[-1]:.0f}"]
    if is_base(one):
        return [*cells, *[""] * (len(HEAD) - len(cells))]
    cells += [format_metric(one.area_gain["solutions"], signed=True), f"{one.better} of {len(one.seeds)}"]
    savings = [one.saving["solutions"], one.choosing, one.saving["steps"], one.saving["seconds"]]
    cells += [times(saving.mean, short=saving.never > 0) if saving else "" for saving in savings]
    return [
        *cells,
        *(times(one.saving[axis].at_end, short=one.saving[axis].ends_short) for axis in ("solutions", "steps")),
    ]


def _glance(one: Comparison | None) -> str:
    if one is None or (ratio := one.saving["solutions"].mean).value is None or ratio.low is None or ratio.high is None:
        return "-"
    mark = "**" if ratio.low > 1 else "_" if ratio.high < 1 else ""
    bound = "≤ " if one.saving["solutions"].never > 0 else ""
    return f"{mark}{bound}{ratio.value:.2f}x{mark}"


def _noise(share: float) -> str:
    return f", {write_share(share)} wrong verdicts" if share else ""


def times(metric: Metric, *, short: bool) -> str:
    """ "1.84x [1.52, 2.10]", with "at most" if a level was never reached."""
    if metric.value is None or metric.low is None or metric.high is None:
        return "-"
    bound = "at most " if short else ""
    return f"{bound}{metric.value:.2f}x [{metric.low:.2f}, {metric.high:.2f}]"
