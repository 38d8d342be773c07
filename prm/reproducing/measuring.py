"""Measures judges across sets, with intervals that resample problems, and the thresholds that survive the change."""

from collections.abc import Mapping, Sequence
from itertools import product

import msgspec
import numpy as np

from prm.answers.noise import fit_noise
from prm.evaluation.metrics import Array as Samples
from prm.evaluation.metrics import Metric, as_metric, divide, draws_of, ranking, resample
from prm.evaluation.report import processbench
from prm.reproducing.judging import Scores, verdicts
from prm.reproducing.sets import Array, LabelledSet, Places
from prm.reproducing.thresholds import CARRIED, GRADES, LABELLED, LABELS, LABELS_SHARE, SHARE, flags_share, from_labels
from prm.trust import AbstentionBar, fit_abstention

DRAWS = 10  # of the labelled solutions that a threshold is fitted on
REPORTED = 100  # labels of the abstention limit


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """One judge that learned from `source`, measured on `target`.

    `over_simple` is the gain in AUROC over the best score without a model. `f1` is ProcessBench's, by threshold rule.
    Figures are means over seeds, and of the rules that draw labels, over draws.
    """

    source: str
    target: str
    judge: str
    auroc: Metric
    over_simple: Metric
    f1: dict[str, Metric]


class Abstention(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts that remain below an abstention limit: their share, their accuracy, and that of all verdicts.

    `labels` of the target fitted threshold and limit; 0 if they are those of the source.
    """

    source: str
    target: str
    judge: str
    labels: int
    coverage: Metric
    accuracy: Metric
    accuracy_without: Metric


def measure_judges(
    source: LabelledSet,
    target: LabelledSet,
    scores: Mapping[str, Sequence[Scores]],
    simple: Sequence[str],
    bootstrap: int,
) -> list[Line]:
    """A line for each judge from its scores by seed; `simple` names the judges without a model."""
    draws = draws_of(target.solutions.n_problems, bootstrap, 0)
    aurocs = _aurocs(target, scores, simple, draws)
    lines = []
    for judge, by_seed in scores.items():
        rules = _f1_by_rule(source, target, by_seed, draws)
        lines.append(
            Line(
                source=source.name,
                target=target.name,
                judge=judge,
                auroc=aurocs[judge],
                over_simple=aurocs[f"{judge} over"],
                f1={rule: as_metric(samples) for rule, samples in rules.items()},
            )
        )
    return lines


def _aurocs(
    target: LabelledSet, scores: Mapping[str, Sequence[Scores]], simple: Sequence[str], draws: Samples
) -> dict[str, Metric]:
    """The AUROC of each judge for first errors among the steps up to them, and its gain over the best simple one."""
    counted, wrong = target.counted, target.wrong[target.counted]
    steps = {judge: [one.steps[counted] for one in by_seed] for judge, by_seed in scores.items()}

    def auroc(judge: str, weights: Samples) -> Samples:
        scored = ~np.isnan(steps[judge][0])
        of_seeds = {one.tobytes(): one for one in steps[judge]}.values()  # a score without training has only one
        return np.mean([ranking(-one[scored], wrong[scored], weights[..., scored])[0] for one in of_seeds], axis=0)

    best = max(simple, key=lambda judge: float(auroc(judge, np.ones(len(wrong)))))

    def measure(weights: Samples) -> dict[str, Samples]:
        each = {judge: auroc(judge, weights) for judge in scores}
        return each | {f"{judge} over": each[judge] - each[best] for judge in scores}

    return resample(measure, draws, target.solutions.problem[np.nonzero(counted)[0]])


def _f1_by_rule(
    source: LabelledSet, target: LabelledSet, by_seed: Sequence[Scores], draws: Samples
) -> dict[str, Samples]:
    """Samples [draws] of F1 by threshold rule; within a set, only with the threshold fitted on its other folds."""

    def f1(scores: Scores, thresholds: Array | float, chosen: np.ndarray | None = None) -> Samples:
        return processbench(target.judged(scores.steps, thresholds), draws, chosen)["processbench_f1"]

    samples = {CARRIED: [f1(one, one.carried) for one in by_seed]}
    if source is not target:
        samples[SHARE] = [f1(one, target.thresholds(flags_share(one.steps, one.share))) for one in by_seed]
        expected = fit_noise(source.traces).share_with_error(target.traces)
        if expected is not None:
            samples[GRADES] = [f1(one, target.thresholds(flags_share(one.steps, expected))) for one in by_seed]
        for rule, n in product((LABELS, LABELS_SHARE), _affordable(target)):
            samples[f"{n} {rule}"] = [
                f1(one, target.thresholds(from_labels(rule, target, one.steps, places)), others)
                for seed, one in enumerate(by_seed)
                for places, others in label_draws(target, n, seed)
            ]
    return {rule: _mean(each) for rule, each in samples.items()}


def label_draws(target: LabelledSet, n: int, seed: int) -> list[tuple[Places, np.ndarray]]:
    """Random draws of `n` labelled solutions, each with the solutions that share no group with them."""
    return [target.draw(n, seed * DRAWS + number) for number in range(DRAWS)]


def _affordable(target: LabelledSet) -> list[int]:
    """The numbers of labels that leave at least half of the set to measure on."""
    return [n for n in LABELLED if 2 * n <= len(target.traces)]


def measure_abstention(
    source: LabelledSet,
    target: LabelledSet,
    judge: str,
    by_seed: Sequence[Scores],
    verdict_accuracy: float,
    bootstrap: int,
) -> list[Abstention]:
    """Two lines: with threshold and limit of the source, and with both fitted on labels of the target."""
    draws = draws_of(target.solutions.n_problems, bootstrap, 0)
    everything = np.arange(len(target.traces))
    fitted: dict[int, list[tuple[Samples, Samples, Samples]]] = {0: []}
    for seed, one in enumerate(by_seed):
        assert one.heads is not None, "a judge that abstains has heads"
        doubt, right = verdicts(target, one.steps, one.heads, one.carried, everything)
        fitted[0].append(_given(target, doubt, right, one.bar, everything, draws))
        if REPORTED not in _affordable(target):
            continue
        for places, others in label_draws(target, REPORTED, seed):
            threshold = from_labels(LABELS, target, one.steps, places)
            doubt, right = verdicts(target, one.steps, one.heads, target.thresholds(threshold), everything)
            bar = fit_abstention(
                [doubt[row] for row in places], [right[row] for row in places], target=verdict_accuracy
            )
            fitted.setdefault(REPORTED, []).append(_given(target, doubt, right, bar, np.flatnonzero(others), draws))
    return [
        Abstention(
            source=source.name,
            target=target.name,
            judge=judge,
            labels=labels,
            **{
                name: as_metric(_mean(samples))
                for name, samples in zip(
                    ("coverage", "accuracy", "accuracy_without"), zip(*each, strict=True), strict=True
                )
            },
        )
        for labels, each in fitted.items()
    ]


def _given(
    target: LabelledSet, doubt: list[float], right: list[bool], bar: AbstentionBar | None, rows: Places, draws: Samples
) -> tuple[Samples, Samples, Samples]:
    """Samples [draws] of coverage, accuracy of the verdicts given, and of all, at the solutions `rows`."""
    weights = draws[:, target.solutions.problem[rows]]
    exact = np.array(right, dtype=float)[rows]
    given = np.array([bar is not None and not bar.withholds(doubt[row]) for row in rows], dtype=float)
    whole = weights.sum(axis=1)
    return (
        divide(weights @ given, whole),
        divide(weights @ (given * exact), weights @ given),
        divide(weights @ exact, whole),
    )


def _mean(samples: Sequence[Samples]) -> Samples:
    """The mean of several samples [draws], without those that are undefined (nan) in a draw."""
    table = np.array(samples)
    known = ~np.isnan(table)
    return divide(np.where(known, table, 0).sum(axis=0), known.sum(axis=0))
