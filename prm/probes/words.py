"""Probe reports as Markdown tables for a shell. No torch."""

from collections.abc import Iterable, Sequence

from prm.cards import format_metric
from prm.evaluation.resampling import Metric
from prm.probes.faithfulness import Report as Faithfulness
from prm.probes.overoptimisation import Curve, Overoptimisation


def overoptimisation_table(report: Overoptimisation) -> str:
    """The curves by rule and N, then where each stops helping."""
    known = any(curve.sound is not None for curve in report.curves.values())
    sound = ["every step true"] if known else []
    lines = _table(
        ["rule", "N", "KL", "score of the chosen", "answer right", *sound, "fooled", "majority", "oracle"],
        (_row(report, rule, curve, k) for rule, curve in report.curves.items() for k in range(len(report.sizes))),
    )
    lines += [
        "",
        f"random: {format_metric(report.random)}; {report.n_candidates} solutions of {report.n_problems} problems",
        "",
    ]
    lines += _table(
        ["rule", "best N", "enough at N", "given away at the largest N", "alpha", "beta"],
        (
            [rule, str(curve.best_n), str(curve.enough_n), *map(format_metric, (curve.lost, curve.alpha, curve.beta))]
            for rule, curve in report.curves.items()
        ),
    )
    return "\n".join(lines)


def faithfulness_table(report: Faithfulness) -> str:
    """How far answers move, over all trials, by position, by steps remaining and by domain."""
    parts = [("all", report.overall)]
    parts += [(f"step {name}", part) for name, part in report.by_position.items()]
    parts += [(f"{name} to go", part) for name, part in report.by_remaining.items()]
    parts += list(report.by_domain.items())
    columns = (
        "moved",
        "moved_control",
        "effect",
        "carried",
        "carried_control",
        "score_drop",
        "noticed",
        "moved_unseen",
    )
    return "\n".join(
        [
            f"{report.n_solutions} solutions with an answer, {report.continuations} continuations of each falsified "
            f"step and of each control; {report.n_plain} steps without a number were left alone",
            "",
            *_table(
                ["", "steps", *(name.replace("_", " ") for name in columns)],
                (
                    [name, str(part.n_trials), *(format_metric(getattr(part, column)) for column in columns)]
                    for name, part in parts
                ),
            ),
        ]
    )


def _row(report: Overoptimisation, rule: str, curve: Curve, k: int) -> list[str]:
    chosen: list[Metric] = [curve.proxy[k], curve.outcome[k]]
    chosen += [curve.sound[k]] if curve.sound else []
    beside = (*chosen, curve.fooled[k], report.majority[k], report.oracle[k])
    return [rule, str(report.sizes[k]), f"{report.kl[k]:.2f}", *map(format_metric, beside)]


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
