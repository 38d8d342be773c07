"""Compares labels made with hints (the model's scores) and labels made without. Pure.

A hint is drawn at random for each person and solution, so the arms differ only by chance and by the hint.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import exp, sqrt
from typing import Annotated

from annotation.core.bounds import about
from annotation.work.gold.gold_accuracy import Answer, Share, is_right, share_of
from prm.consensus import Measured
from prm.intervals import student_quantile

Ends = tuple[float, float, float]  # a share and its interval


@dataclass(frozen=True)
class Logs:
    """The logarithms of the seconds per step of labels: their number, mean and standard deviation."""

    count: int = 0
    mean: float | None = None
    deviation: float | None = None


@dataclass(frozen=True)
class Pace:
    """Seconds per step: the geometric mean over labels, with its 95 % interval."""

    count: Annotated[int, about("Number of labels.")]
    seconds: Annotated[float | None, about("Seconds per step; null without labels.")] = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Arm:
    """The labels of one arm."""

    labels: Annotated[int, about("Number of labels.")]
    agrees: Annotated[Share, about("Labels that agree with the model's verdict on the first error.")]
    finds: Annotated[Share, about("Labels that find an error.")]
    right: Annotated[Share, about("Right labels on gold.")]
    misled: Annotated[Share, about("Labels with the model's wrong first error on gold.")]
    pace: Annotated[Pace, about("Seconds per step.")]


@dataclass(frozen=True)
class Gaps:
    """Hinted minus blind, in shares; `pace` is the ratio of seconds per step. None if an arm has no labels for it."""

    agrees: Annotated[Measured | None, about("Difference in the share of labels that agree with the model's verdict.")]
    finds: Annotated[Measured | None, about("Difference in the share of labels that find an error.")]
    right: Annotated[Measured | None, about("Difference in the share of right labels on gold.")]
    misled: Annotated[
        Measured | None, about("Difference in the share of labels with the model's wrong first error on gold.")
    ]
    pace: Annotated[Measured | None, about("Ratio of the seconds per step.")]


@dataclass(frozen=True)
class Known:
    """A label on a gold solution, with the model's verdict on the first error, None if it has none."""

    answer: Answer
    verdict: int | None


@dataclass(frozen=True)
class WeekOfHints:
    """The shares of labels that are right on gold, of the week from Monday `start` on."""

    start: Annotated[date, about("The Monday of the week.")]
    hinted: Annotated[Share, about("Labels of the hint arm that are right.")]
    blind: Annotated[Share, about("Labels of the blind arm that are right.")]


def right_by_week(
    hinted: Iterable[Known], blind: Iterable[Known], *, day_of: Callable[[datetime], date], tolerance: int
) -> list[WeekOfHints]:
    """The accuracy of both arms in each week with labels, oldest first; `day_of` is the project's day of a time."""
    weeks: dict[date, tuple[list[bool], list[bool]]] = {}
    for arm, labels in enumerate((hinted, blind)):
        for label in labels:
            if label.answer.at is not None:
                day = day_of(label.answer.at)
                start = day - timedelta(days=day.weekday())
                right = label.answer.is_right(tolerance=tolerance)
                weeks.setdefault(start, ([], []))[arm].append(right)
    return [
        WeekOfHints(start, *(share_of(sum(right), len(right)) for right in arms))
        for start, arms in sorted(weeks.items())
    ]


def on_known(labels: Iterable[Known], *, tolerance: int = 0) -> tuple[Share, Share]:
    """`right` and `misled` of an `Arm`."""
    right = of = followed = wrong = 0
    for label in labels:
        answer, verdict = label.answer, label.verdict
        right += answer.is_right(tolerance=tolerance)
        of += 1
        if verdict is not None and not is_right(verdict, answer.reference, answer.accepted, tolerance=tolerance):
            followed += answer.first_error == verdict
            wrong += 1
    return share_of(right, of), share_of(followed, wrong)


def difference(hinted: Share, blind: Share) -> Measured | None:
    """The difference of two shares, None if either has no answers."""
    hinted_ends, blind_ends = _ends(hinted), _ends(blind)
    return None if hinted_ends is None or blind_ends is None else gap_between(hinted_ends, blind_ends)


def gap_between(hinted: Ends, blind: Ends) -> Measured:
    """The difference of two shares by R. G. Newcombe's hybrid score interval (Stat. Med. 17, 1998, method 10)."""
    (p, low, high), (q, other_low, other_high) = hinted, blind
    down, up = sqrt((p - low) ** 2 + (other_high - q) ** 2), sqrt((high - p) ** 2 + (q - other_low) ** 2)
    return Measured(p - q, p - q - down, p - q + up)


def _ends(share: Share) -> Ends | None:
    """The value of a share and its interval; None if it has no answers."""
    if share.value is None or share.low is None or share.high is None:
        return None
    return share.value, share.low, share.high


def pace_of(logs: Logs) -> Pace:
    """The pace with Student's interval of the mean logarithm, because times are skewed to the right."""
    if logs.mean is None:
        return Pace(0)
    if logs.count < 2 or logs.deviation is None:
        return Pace(logs.count, exp(logs.mean))
    half = student_quantile(0.975, logs.count - 1) * logs.deviation / sqrt(logs.count)
    return Pace(logs.count, exp(logs.mean), exp(logs.mean - half), exp(logs.mean + half))


def ratio(hinted: Logs, blind: Logs) -> Measured | None:
    """The hinted arm's time per step over the blind arm's, with B. L. Welch's interval (Biometrika 34, 1947)."""
    if hinted.mean is None or blind.mean is None or min(hinted.count, blind.count) < 2:
        return None
    value = hinted.mean - blind.mean
    variances = [(arm.deviation or 0.0) ** 2 / arm.count for arm in (hinted, blind)]
    if not sum(variances):
        return Measured(exp(value), exp(value), exp(value))
    spread = sum(v**2 / (arm.count - 1) for v, arm in zip(variances, (hinted, blind), strict=True))
    freedom = sum(variances) ** 2 / spread
    half = student_quantile(0.975, freedom) * sqrt(sum(variances))
    return Measured(exp(value), exp(value - half), exp(value + half))
