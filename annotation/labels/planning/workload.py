"""Forecasts the days, time and cost of more labels from the last weeks. Pure.

Each of DRAWS possible futures first draws weights of the past days, because a few days say little about the usual day
(after D. B. Rubin, "The Bayesian bootstrap", Annals of Statistics 9, 1981). It then draws each future day from the past
ones, from the same weekday once all weekdays are known from WEEKS weeks.
"""

import math
import statistics
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal, NamedTuple

import msgspec
import numpy as np

from annotation.core.bounds import about
from annotation.labels.planning.bands import Array, Band, band_of

DRAWS = 1000
WEEKS = 6
LEAST_DAYS = 3  # days with labels below which nothing is forecast
BLOCK, LONGEST = 28, 5 * 365  # days
# The shape of the gamma weights of n days is (n - SPENT) / n: the mean of few days then varies as by Student's t.
SPENT, LEAST_SHAPE = 3.0, 0.2
PACE = 0.75  # standard errors that the usual pace may be off: the few people who set it come and go
SEED = 20
Goal = Literal["labels", "cost", "days"]


class Day(NamedTuple):
    """The labels of a past day, their active time in seconds, and their cost. `weekday` is 0 on a Monday."""

    weekday: int
    labels: int
    seconds: float
    cost: float


class Workload(msgspec.Struct, frozen=True):
    """The totals up to a goal, each an expectation with its band; the goal's own total is fixed.

    The goal counts as reached unless a tenth of the futures or more do not reach it within five years.
    """

    days: Annotated[Band, about("Days.")]
    labels: Annotated[Band, about("Labels.")]
    hours: Annotated[Band, about("Hours of active labelling.")]
    cost: Annotated[Band, about("Cost of the labels, in the project's currency.")]
    reached: Annotated[
        bool, about("Whether the goal is reached within five years; if not, the totals are lower bounds.")
    ]
    past_days: Annotated[int, about("Past days with labels that the forecast uses.")]
    past_labels: Annotated[int, about("Past labels that the forecast uses.")]


def forecast(
    past: Sequence[Day], *, goal: Goal, amount: float, first_weekday: int, hours_a_week: float | None = None
) -> Workload | None:
    """The work up to `amount` of the goal, beginning on a `first_weekday`; None after too few days with labels.

    `past` are consecutive days, those without labels included, up to yesterday. With `hours_a_week`, the same people
    work that long every week, at each day's pace and cost.
    """
    if hours_a_week is not None:
        past = _with_hours(past, hours_a_week)
    busy = sum(day.labels > 0 for day in past)
    if busy < LEAST_DAYS or (goal == "cost" and not any(day.cost for day in past)):
        return None
    totals = np.zeros((DRAWS, 4))  # days, labels, seconds, cost
    measured = {"days": 0, "labels": 1, "cost": 3}[goal]
    open_ = np.ones(DRAWS, bool)
    for block in _futures(past, first_weekday, hours_vary=hours_a_week is None):
        after = totals[:, None] + np.cumsum(block, axis=1)
        before = np.concatenate([totals[:, None], after[:, :-1]], axis=1)
        there = after[:, :, measured] >= amount
        ends = open_ & there.any(axis=1)
        rows, last = np.flatnonzero(ends), there.argmax(axis=1)[ends]
        start, stop = before[rows, last], after[rows, last]
        part = (amount - start[:, measured]) / (stop[:, measured] - start[:, measured])
        totals[rows] = start + part[:, None] * (stop - start)
        open_ &= ~ends
        totals[open_] = after[open_, -1]
        if not open_.any():
            break
    days, labels, seconds, cost = totals.T
    return Workload(
        days=band_of(days),
        labels=band_of(labels),
        hours=band_of(seconds / 3600),
        cost=band_of(cost),
        reached=bool(open_.mean() < 0.1),
        past_days=busy,
        past_labels=sum(day.labels for day in past),
    )


def _with_hours(past: Sequence[Day], hours_a_week: float) -> list[Day]:
    seconds = hours_a_week * 3600 / 7
    worked = [day for day in past if day.seconds > 0]
    shares = [seconds / day.seconds for day in worked]
    return [
        Day(number % 7, round(day.labels * share), seconds, day.cost * share)
        for number, (day, share) in enumerate(zip(worked, shares, strict=True))
    ]


def _futures(past: Sequence[Day], first_weekday: int, *, hours_vary: bool) -> Iterator[Array]:
    """Blocks of drawn days, [DRAWS, BLOCK, 4] of day, labels, seconds and cost, up to LONGEST days.

    A slower pace takes more time and money for the same labels, or brings fewer labels if hours do not vary.
    """
    random = np.random.default_rng(SEED)
    figures = np.array([(1.0, day.labels, day.seconds, day.cost) for day in past])
    weekdays = np.array([day.weekday for day in past])
    by_weekday = all((weekdays == weekday).sum() >= WEEKS for weekday in range(7))
    alike = len(past) / 7 if by_weekday else len(past)  # days that are drawn for one another
    weights = random.gamma(max((alike - SPENT) / alike, LEAST_SHAPE), size=(DRAWS, len(past)))
    paces = [math.log(day.seconds / day.labels) for day in past if day.labels and day.seconds]
    error = statistics.stdev(paces) / len(paces) ** 0.5 if len(paces) > 1 else 0.0
    pace = np.exp(PACE * error * random.standard_normal((DRAWS, 1, 1)))
    for first in range(0, LONGEST, BLOCK):
        block = np.empty((DRAWS, BLOCK, 4))
        for weekday in range(7):
            at = [n for n in range(BLOCK) if (first_weekday + first + n) % 7 == weekday]
            days = np.flatnonzero(weekdays == weekday) if by_weekday else np.arange(len(past))
            steps = np.cumsum(weights[:, days], axis=1)
            drawn = random.random((DRAWS, len(at))) * steps[:, -1:]
            block[:, at] = figures[days[(drawn[:, :, None] > steps[:, None, :-1]).sum(axis=2)]]
        if hours_vary:
            block[:, :, 2:] *= pace
        else:
            block[:, :, 1:2] /= pace
        yield block
