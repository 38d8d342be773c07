"""Audits whether a score of .9 is right nine times in ten, before and after temperature, overall and by domain.

Reliability and ECE after Guo et al. 2017 (equations 2 and 3, ten bins of equal width).
"""

from random import Random

import numpy as np

from prm.audits.finding import Chart, Check, Figure, Finding, Series, conclude
from prm.audits.ranking import Chosen, clear
from prm.audits.subject import AUDITS, ENOUGH, Subject
from prm.evaluation.metrics import (
    CALIBRATION_BINS,
    Array,
    Metric,
    brier,
    divide,
    expected_calibration_error,
    format_metric,
    in_bins,
    resample,
)
from prm.messages import Message, joined

SMALL, LARGE = 0.05, 0.15  # ECE
WORSE = 0.005  # of Brier score
IN_A_BIN = 5  # steps; a bin with fewer is not drawn


@AUDITS.register("calibration")
def audit(subject: Subject, rng: Random) -> Finding:
    """Reliability, ECE and Brier of step scores; skill is the relative improvement on the base rate's Brier score."""
    steps = subject.steps
    whole = _measured(subject, np.ones(len(steps.p), dtype=bool))
    n = len(steps.p)
    figures = [_figure(name, whole[key], n, "All steps", signed) for name, key, signed in _rows(subject)]
    domains = subject.solutions.domains
    by_domain: dict[str, Metric] = {}
    for index, name in enumerate(domains if len(domains) > 1 else []):
        inside = subject.solutions.domain[steps.solution] == index
        measured, shown = _measured(subject, inside), name or Message("no_domain_name")
        by_domain[shown] = measured["ece"]
        figures += [
            _figure(words, measured[key], int(inside.sum()), shown, signed) for words, key, signed in _rows(subject)
        ]
    return conclude(
        audit="calibration",
        title=Message("audit_calibration"),
        question="Is a score of .9 right nine times in ten?",
        when_ok=Message("audit_calibration_ok"),
        checks=[
            _ece_check(whole["ece"], n),
            _skill_check(whole["skill"], n),
            _temperature_check(whole.get("gain"), n),
            _domain_check(by_domain),
        ],
        figures=figures,
        charts=[
            Chart(
                title="Reliability",
                kind="lines",
                along="mean p(good) in the bin",
                value="share that is good",
                diagonal=True,
                span=(0, 1),
                series=[
                    *([_reliability(subject, "before temperature", steps.raw)] if subject.temperature else []),
                    _reliability(subject, "after temperature" if subject.temperature else "scores", steps.p),
                ],
            ),
            Chart(
                title="ECE by domain",
                kind="dots",
                value="ECE",
                series=[Series("scores", list(by_domain), list(by_domain.values()))],
            ),
        ],
        notes=[
            "Only steps up to the first error count. ECE is biased upwards in small samples (noise within a bin).",
            "The base rate is that of the audited steps, so the skill is relative to a well-informed constant.",
        ],
    )


def _rows(subject: Subject) -> list[tuple[str, str, bool]]:
    rows = [("ECE", "ece", False), ("Brier", "brier", False), ("skill over the base rate", "skill", True)]
    before = [("ECE before temperature", "raw_ece", False), ("Brier before temperature", "raw_brier", False)]
    return rows + before if subject.temperature else rows


def _figure(name: str, value: Metric, n: int, group: str, signed: bool) -> Figure:
    return Figure(name=name, value=value, n=n, of="steps", group=group, signed=signed)


def _measured(subject: Subject, chosen: Chosen) -> dict[str, Metric]:
    steps = subject.steps
    p, raw, good = steps.p[chosen], steps.raw[chosen], 1 - steps.error[chosen]

    def measure(weights: Array) -> dict[str, Array]:
        after, rate = brier(p, good, weights), divide(weights @ good, weights.sum(axis=-1))
        measures = {
            "ece": expected_calibration_error(p, good, weights),
            "brier": after,
            "skill": 1 - divide(after, rate * (1 - rate)),
        }
        if subject.temperature:
            measures["raw_ece"] = expected_calibration_error(raw, good, weights)
            measures["raw_brier"] = brier(raw, good, weights)
            measures["gain"] = measures["raw_brier"] - after
        return measures

    return resample(measure, subject.draws, subject.owner[chosen])


def _reliability(subject: Subject, name: str, p: Array) -> Series:
    """The share of good steps in each bin, at the bin's mean p."""
    members, good = in_bins(p), 1 - subject.steps.error

    def measure(weights: Array) -> dict[str, Array]:
        size = weights @ members
        shares = divide(weights @ (members * good[:, None]), size)
        return {str(k): shares[:, k] for k in range(CALIBRATION_BINS)}

    shares = resample(measure, subject.draws, subject.owner)
    drawn = [k for k in range(CALIBRATION_BINS) if members[:, k].sum() >= IN_A_BIN]
    return Series(name, [float(p[members[:, k] > 0].mean()) for k in drawn], [shares[str(k)] for k in drawn])


def _ece_check(ece: Metric, n: int) -> Check:
    rule = f"ECE not clearly above {SMALL}, else attention; not clearly above {LARGE}, else fail"
    if n < ENOUGH or ece.value is None:
        return Check("cannot tell", rule, Message("too_few_steps", n=n))
    if clear(ece, LARGE):
        return Check("fail", rule, Message("ece_bad", ece=format_metric(ece)))
    if clear(ece, SMALL):
        return Check("attention", rule, Message("ece_fair", ece=format_metric(ece)))
    return Check("ok", rule, Message("ece_good", ece=format_metric(ece)))


def _skill_check(skill: Metric, n: int) -> Check:
    rule = "Brier score clearly better than the base rate's, else attention"
    if n < ENOUGH or skill.value is None:
        return Check("cannot tell", rule, Message("one_class_of_steps"))
    if not clear(skill, 0):
        words = Message("brier_skill_none", skill=format_metric(skill))
        return Check("attention", rule, words)
    words = Message("brier_skill_good", skill=format_metric(skill))
    return Check("ok", rule, words)


def _temperature_check(gain: Metric | None, n: int) -> Check:
    rule = f"The temperature does not clearly worsen the Brier score by {WORSE}, else attention"
    if gain is None or n < ENOUGH:
        return Check("cannot tell", rule, Message("no_temperature"))
    if gain.high is not None and gain.high < -WORSE:
        return Check("attention", rule, Message("temperature_harmful"))
    return Check("ok", rule, Message("temperature_harmless"))


def _domain_check(by_domain: dict[str, Metric]) -> Check:
    rule = f"ECE of no domain clearly above {SMALL}, else attention"
    off = [
        Message("domain_with_ece", domain=name, ece=format_metric(ece))
        for name, ece in by_domain.items()
        if clear(ece, SMALL)
    ]
    if not by_domain:
        return Check("cannot tell", rule, Message("one_domain"))
    if off:
        return Check("attention", rule, Message("calibration_fails_in_domains", domains=joined(off, "comma_list")))
    return Check("ok", rule, Message("calibration_holds_everywhere"))
