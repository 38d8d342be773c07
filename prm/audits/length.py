"""Audits whether the score is more than a measure of a step's length, and holds in longer solutions."""

from itertools import pairwise
from random import Random

import numpy as np

from prm.audits.finding import Check, Figure, Finding, conclude
from prm.audits.ranking import Chosen, Ranking, above_chance, auroc_chart, clear, rank_steps
from prm.audits.subject import AUDITS, ENOUGH, Rows, Subject
from prm.evaluation.metrics import Array, Metric, as_metric, divide, format_metric, ranking, resample, resampled_ece
from prm.evaluation.report import LENGTH_BINS, processbench
from prm.messages import Message, joined

PARTS = 5  # of the steps, by their number of characters
FALL = 0.10  # of AUROC among steps of similar length


@AUDITS.register("length")
def audit(subject: Subject, rng: Random) -> Finding:
    """AUROC by length of the step, and AUROC, F1 and calibration by number of steps of the solution."""
    whole = rank_steps(subject)
    parts = _parts(subject.steps.chars)
    alike, fall = _alike(subject, parts)
    by_chars = {name: rank_steps(subject, inside) for name, inside in parts.items()}
    lengths = _lengths(subject)
    by_steps = {name: rank_steps(subject, chosen[subject.steps.solution]) for name, chosen in lengths.items()}
    return conclude(
        audit="length",
        title=Message("audit_length"),
        question="Is the score more than a measure of a step's length, and does it hold in longer solutions?",
        when_ok=Message("audit_length_ok"),
        checks=[
            above_chance(whole, Message("all_steps"), shortcut="fail"),
            _alike_check(alike, fall, whole.n_errors),
            _lengths_check(by_steps),
        ],
        figures=[
            whole.figure("all steps", "AUROC by length of the step"),
            Figure(
                name="among steps of similar length",
                value=alike,
                n=whole.n_steps,
                of="steps",
                group="AUROC by length of the step",
            ),
            *(ranking.figure(name, "AUROC by length of the step") for name, ranking in by_chars.items()),
            *(ranking.figure(name, "AUROC by length of the solution") for name, ranking in by_steps.items()),
            *_solution_figures(subject, lengths),
        ],
        charts=[
            auroc_chart(f"AUROC by length of the {what}", {name: one for name, one in of.items() if one.is_ample})
            for what, of in (("step", by_chars), ("solution", by_steps))
        ],
        notes=[
            "Length-only uses the number of characters of a step, in the direction that ranks errors better.",
            "Among steps of similar length: the mean of the AUROCs of the length groups, weighted by their errors.",
        ],
    )


def _parts(chars: Rows) -> dict[str, Chosen]:
    """Steps by length: fifths, or fewer groups if many steps have the same length."""
    edges = np.unique(np.quantile(chars, np.linspace(0, 1, PARTS + 1)).round()) if len(chars) else np.array([])
    edges[-1:] += 1
    return {f"{low:.0f} to {high - 1:.0f} characters": (chars >= low) & (chars < high) for low, high in pairwise(edges)}


def _lengths(subject: Subject) -> dict[str, Chosen]:
    """Solutions by number of steps."""
    n = subject.solutions.length
    lengths = {_length(low, high): (n >= low) & (n <= (high or np.inf)) for low, high in LENGTH_BINS}
    return {name: chosen for name, chosen in lengths.items() if chosen.any()}


def _length(low: int, high: int | None) -> str:
    return Message("steps_from", low=low) if high is None else Message("steps_from_to", low=low, high=high)


def _alike(subject: Subject, parts: dict[str, Chosen]) -> tuple[Metric, Metric]:
    """AUROC among steps of similar length, and how much lower it is than that of all steps."""
    p, error = subject.steps.p, subject.steps.error

    def measure(weights: Array) -> dict[str, Array]:
        won, counted = np.zeros(len(weights)), np.zeros(len(weights))
        for inside in parts.values():
            auroc, _ = ranking(1 - p[inside], error[inside], weights[:, inside])
            errors = np.where(np.isnan(auroc), 0.0, weights[:, inside] @ error[inside])
            won += np.nan_to_num(auroc) * errors
            counted += errors
        alike = divide(won, counted)
        return {"alike": alike, "fall": ranking(1 - p, error, weights)[0] - alike}

    figures = resample(measure, subject.draws, subject.owner)
    return figures["alike"], figures["fall"]


def _solution_figures(subject: Subject, lengths: dict[str, Chosen]) -> list[Figure]:
    figures = []
    for name, chosen in lengths.items():
        inside = chosen[subject.steps.solution]
        p, good = subject.steps.p[inside], 1 - subject.steps.error[inside]
        f1 = as_metric(processbench(subject.solutions, subject.draws, chosen)["processbench_f1"])
        ece = resampled_ece(p, good, subject.draws, subject.owner[inside])
        figures += [
            Figure(name=f"F1, {name}", value=f1, n=int(chosen.sum()), of="solutions", group="ProcessBench F1 and ECE"),
            Figure(name=f"ECE, {name}", value=ece, n=len(p), of="steps", group="ProcessBench F1 and ECE"),
        ]
    return figures


def _alike_check(alike: Metric, fall: Metric, n_errors: int) -> Check:
    rule = f"Among steps of similar length, AUROC is clear of 0.5, else fail; not clearly {FALL} lower, else attention"
    if n_errors < ENOUGH or alike.value is None:
        return Check("cannot tell", rule, Message("too_few_errors", n=n_errors))
    if not clear(alike, 0.5):
        return Check("fail", rule, Message("errors_not_separated_at_like_length"))
    if clear(fall, FALL):
        return Check("attention", rule, Message("auroc_lower_at_like_length", fall=format_metric(fall)))
    words = Message("errors_separated_at_like_length", auroc=format_metric(alike))
    return Check("ok", rule, words)


def _lengths_check(by_steps: dict[str, Ranking]) -> Check:
    rule = f"AUROC clear of 0.5 at every length of solution with {ENOUGH} errors or more, else attention"
    known = {name: ranking for name, ranking in by_steps.items() if ranking.is_ample}
    blind = [name for name, ranking in known.items() if not clear(ranking.scores, 0.5)]
    if not known:
        return Check("cannot tell", rule, Message("no_length_has_errors", least=ENOUGH))
    if blind:
        words = Message("errors_not_separated_in_lengths", lengths=joined(blind, "comma_list"))
        return Check("attention", rule, words)
    words = Message("errors_separated_in_lengths", lengths=joined(list(known), "comma_list"))
    return Check("ok", rule, words)
