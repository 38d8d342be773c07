"""Formats probe reports as text and Markdown tables, for a shell."""

from prm.cards import markdown_table
from prm.evaluation.metrics import Metric, format_metric
from prm.messages import Message
from prm.probes.cost import Cost
from prm.probes.faithfulness import Report as Faithfulness
from prm.probes.neighbours import Explanation, StepView
from prm.probes.overoptimisation import Curve, Overoptimisation
from prm.threshold import Threshold
from prm.vocabulary import WORD_OF

MOVES = 4  # parts of the features named for a step
WIDTH = 100  # characters of a step or problem shown


def overoptimisation_table(report: Overoptimisation) -> str:
    """The curves by rule and N, then the best and the sufficient N of each."""
    known = any(curve.sound is not None for curve in report.curves.values())
    sound = ["every step true"] if known else []
    curves = markdown_table(
        ["rule", "N", "KL", "score of the chosen", "answer right", *sound, "fooled", "majority", "oracle"],
        (_row(report, rule, curve, k) for rule, curve in report.curves.items() for k in range(len(report.sizes))),
    )
    ends = markdown_table(
        ["rule", "best N", "enough at N", "given away at the largest N", "alpha", "beta"],
        (
            [rule, str(curve.best_n), str(curve.enough_n), *map(format_metric, (curve.lost, curve.alpha, curve.beta))]
            for rule, curve in report.curves.items()
        ),
    )
    pools = f"{Message('n_solutions', n=report.n_candidates)} of {Message('n_problems', n=report.n_problems)}"
    return "\n".join([curves, "", f"random: {format_metric(report.random)}; {pools}", "", ends])


def faithfulness_table(report: Faithfulness) -> str:
    """How often answers change, over all trials, by position, by steps remaining and by domain."""
    parts = [("all", report.overall)]
    parts += [(f"step {name}", part) for name, part in report.by_position.items()]
    parts += [(f"{name} to go", part) for name, part in report.by_remaining.items()]
    parts += [(name or Message("no_domain_name"), part) for name, part in report.by_domain.items()]
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
            f"{Message('n_solutions', n=report.n_solutions)} with an answer, {report.continuations} continuations "
            f"of each falsified step and of each control; {report.n_plain} steps without a number were skipped",
            "",
            markdown_table(
                ["", "steps", *(name.replace("_", " ") for name in columns)],
                (
                    [name, str(part.n_trials), *(format_metric(getattr(part, column)) for column in columns)]
                    for name, part in parts
                ),
            ),
        ]
    )


def cost_table(report: Cost) -> str:
    """The costs of scoring and training, and the shares of right choices."""
    ways = markdown_table(
        ["scored", "ms a solution", "tokens", "MFLOPs", "scores"],
        (
            [way.name, f"{1e3 * way.seconds:.2f}", f"{way.tokens:.0f}", f"{way.flops / 1e6:.0f}", f"{way.scores:.1f}"]
            for way in report.ways
        ),
    )
    training = markdown_table(
        ["model", "training s", "labelled steps", "labelled answers"],
        ([one.name, f"{one.seconds:.0f}", str(one.step_labels), str(one.answer_labels)] for one in report.training),
    )
    choices = markdown_table(
        ["N", "steps choose (product)", "the outcome head chooses", "gain of steps"],
        ([str(one.n), *map(format_metric, (one.process, one.outcome, one.gain))] for one in report.choices),
    )
    mean = report.n_steps / report.n_solutions
    heading = f"{Message('n_solutions', n=report.n_solutions)} of {mean:.1f} steps on {report.device}"
    return "\n".join([heading, "", ways, "", training, *(["", choices] if report.choices else [])])


def explanation_text(explanation: Explanation, threshold: Threshold) -> str:
    """A solution's steps with their scores, the features that moved each, and its nearest labelled steps."""
    bar = threshold.at(len(explanation.steps))
    lines = [f"{explanation.id}: {_line(explanation.problem)}"]
    for view in explanation.steps:
        verdict = "error" if view.score < bar else "passes"
        lines += [
            f"  step {view.position}: {view.score:.3f} ({verdict} at {bar:.3f})  {_line(view.step.text)}",
            f"    heads {min(view.heads):.2f} to {max(view.heads):.2f}, spread {view.spread:.3f}; "
            f"moved by {_moves(view)}",
        ]
        lines += [
            f"    near, at {near.distance:.3f}: {WORD_OF[near.label.rating]}"
            f" (p(bad) {near.label.bad:.2f}), {near.trace_id} step {near.position}: {_line(near.step.text)}"
            for near in view.neighbours
        ]
    return "\n".join(lines)


def _moves(view: StepView) -> str:
    most = sorted(view.moved_by.items(), key=lambda item: -abs(item[1]))[:MOVES]
    return ", ".join(f"{name.replace('_', ' ')} {value:+.2f}" for name, value in most)


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= WIDTH else flat[: WIDTH - 3] + "..."


def _row(report: Overoptimisation, rule: str, curve: Curve, k: int) -> list[str]:
    chosen: list[Metric] = [curve.proxy[k], curve.outcome[k]]
    chosen += [curve.sound[k]] if curve.sound else []
    beside = (*chosen, curve.fooled[k], report.majority[k], report.oracle[k])
    return [rule, str(report.sizes[k]), f"{report.kl[k]:.2f}", *map(format_metric, beside)]
