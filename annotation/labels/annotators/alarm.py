"""Detects batches of labels that differ more than their annotator's earlier labels and other people's. Pure.

Each label either differs or not from a reference that its annotator did not influence. A CUSUM
(E. S. Page, "Continuous inspection schemes", Biometrika 41, 1954) adds up, label by label, the log likelihood ratio of
"differs at thrice the usual odds" to "differs as usual", and never falls below zero. The alarm threshold is the
logarithm of `labels_between_false_alarms`, a lower bound of the average number of judged labels between two false
alarms (G. Lorden, Annals of Mathematical Statistics 42, 1971). The batch begins where the sum was last zero.

The usual rate is the person's own past rate, mixed with other people's while the past is short. References with and
without an error have separate rates, so that missing every error stands out as much as finding false ones.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.labels.annotators.evidence import NOBODY, Rise, log_ratio, tolerated

OTHERS_COUNT = 20.0  # the weight of other people's rate, in judged labels
RECENT = 40  # latest judged labels, which are not part of the past yet
LEAST, MOST = 0.02, 0.9  # bounds of a rate; beyond them, single labels would decide


@dataclass(frozen=True)
class Judged:
    """A judged label by `who`. `error` is whether the reference has an error, `against` whose labels it comes from."""

    label: int
    who: str
    at: datetime
    error: bool
    differs: bool
    against: frozenset[str] = frozenset()


def find_alarms(
    judged: Sequence[Judged],
    *,
    labels_between_false_alarms: int,
    cleared_until: Mapping[str, datetime] = NOBODY,
) -> dict[str, Rise]:
    """The people with a batch that raises an alarm, worst first, with the labels that differ as hits.

    After each alarm the rest are judged without that annotator's labels, so that nobody is blamed for differing from a
    bad annotator. Labels up to `cleared_until` were reviewed by a person and only count as past.
    """
    threshold = math.log(labels_between_false_alarms)
    remaining, raised = list(judged), dict[str, Rise]()
    while True:
        annotators = {label.who for label in remaining}
        rises = {who: rise for who in annotators if (rise := _watch(who, remaining, threshold, cleared_until.get(who)))}
        if not rises:
            return raised
        worst = max(rises, key=lambda who: (rises[who].score, who))
        raised[worst] = rises[worst]
        remaining = [label for label in remaining if label.who != worst and worst not in label.against]


def _watch(annotator: str, judged: Sequence[Judged], threshold: float, after: datetime | None) -> Rise | None:
    """The rise to the highest sum of one annotator, None if it stays below the threshold."""
    usual = _usual(label for label in judged if label.who != annotator and annotator not in label.against)
    own = sorted((label for label in judged if label.who == annotator), key=lambda label: (label.at, label.label))
    past = {True: _Past(usual[True]), False: _Past(usual[False])}
    best: Rise | None = None
    total, expected, rising = 0.0, 0.0, list[Judged]()
    for number, label in enumerate(own):
        if number >= RECENT and total < threshold:  # continued suspicion does not become usual
            past[own[number - RECENT].error].add(own[number - RECENT].differs)
        rate = past[label.error].rate
        total = max(total + log_ratio(label.differs, usual=rate, raised=tolerated(rate)), 0.0)
        if total == 0.0 or (after is not None and label.at <= after):
            total, expected, rising = 0.0, 0.0, []
            continue
        rising.append(label)
        expected += rate
        if total >= threshold and (best is None or total > best.score):
            best = Rise(
                since=rising[0].at,
                until=label.at,
                labels=tuple(one.label for one in rising),
                hits=sum(one.differs for one in rising),
                expected=expected,
                score=total,
                threshold=threshold,
            )
    return best


class _Past:
    """The rate at which a person's earlier labels differed, mixed with other people's rate."""

    def __init__(self, usual: float) -> None:
        self._differed, self._judged = OTHERS_COUNT * usual, OTHERS_COUNT

    def add(self, differs: bool) -> None:
        self._differed += differs
        self._judged += 1

    @property
    def rate(self) -> float:
        return min(max(self._differed / self._judged, LEAST), MOST)


def _usual(labels: Iterable[Judged]) -> dict[bool, float]:
    """The share that differs, by whether the reference has an error; one of each is added to the counts."""
    counts = {True: [1, 2], False: [1, 2]}
    for label in labels:
        counts[label.error][0] += label.differs
        counts[label.error][1] += 1
    return {error: differed / judged for error, (differed, judged) in counts.items()}
