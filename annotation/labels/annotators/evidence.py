"""Adds up evidence about one person's labels, label by label. Pure.

Each label either is a hit or not. A CUSUM (E. S. Page, Biometrika 41, 1954) adds the log likelihood ratio of a raised
to the usual probability of a hit and never falls below zero. If the usual probabilities are right or too high, at least
exp(threshold) labels lie between two false alarms on average (G. Lorden, Annals of Mathematical Statistics 42, 1971).
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

NOBODY: Mapping[str, datetime] = {}  # has been cleared
ODDS = 3.0
ALWAYS = 0.95  # how often somebody who follows a pattern or another person does so


@dataclass(frozen=True)
class Evidence:
    """Whether a label is a hit, and the usual probability of that; `log_ratio` is what it adds to the sum."""

    label: int
    at: datetime
    hit: bool
    usual: float
    log_ratio: float


@dataclass(frozen=True)
class Rise:
    """The labels over which the sum rose to its maximum, `score`: `hits` of them, of which `expected` are usual."""

    since: datetime
    until: datetime
    labels: tuple[int, ...]
    hits: int
    expected: float
    score: float
    threshold: float


def log_ratio(hit: bool, *, usual: float, raised: float) -> float:
    """The log likelihood ratio of a hit, or of none."""
    return math.log(raised / usual) if hit else math.log((1 - raised) / (1 - usual))


def tolerated(rate: float) -> float:
    """The rate at ODDS times the usual odds, which a careful person may have."""
    return ODDS * rate / (1 + (ODDS - 1) * rate)


def weigh(label: int, at: datetime, hit: bool, *, usual: float) -> Evidence:
    """The evidence for somebody who ALWAYS makes a hit against the usual rate."""
    return Evidence(label, at, hit, usual, log_ratio(hit, usual=usual, raised=ALWAYS) if usual < ALWAYS else 0.0)


def highest_rise(evidence: Iterable[Evidence], *, threshold: float, after: datetime | None) -> Rise | None:
    """The highest rise of the sum; None if it stays below the threshold. Labels up to `after` do not count."""
    best: Rise | None = None
    total, rising = 0.0, list[Evidence]()
    for one in evidence:
        total += one.log_ratio
        if total <= 0 or (after is not None and one.at <= after):
            total, rising = 0.0, []
            continue
        rising.append(one)
        if total >= threshold and (best is None or total > best.score):
            best = Rise(
                since=rising[0].at,
                until=one.at,
                labels=tuple(dict.fromkeys(each.label for each in rising)),
                hits=sum(each.hit for each in rising),
                expected=sum(each.usual for each in rising),
                score=total,
                threshold=threshold,
            )
    return best
