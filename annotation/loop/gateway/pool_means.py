"""Means over the pool from labels that were drawn with unequal probabilities."""

from collections.abc import Sequence

import msgspec

NOT_TOLD = -2  # a prediction that is never right: a step was not scored before any error


class Weighted(msgspec.Struct):
    """A mean over the pool with its 95 % interval (None for a single label), beside the plain mean of the labels.

    `effective` is how many labels with equal weights would tell as much.
    """

    value: float
    low: float | None
    high: float | None
    naive: float
    n: int
    effective: float


def pool_mean(values: Sequence[float], inclusion: Sequence[float], *, share: bool) -> Weighted:
    """Hajek's estimate of the mean over all that could have been drawn; a `share` lies in [0, 1]."""
    from prm.acquisition.estimating import hajek

    estimate = hajek(values, inclusion, bounds=(0.0, 1.0) if share else (0.0, float("inf")))
    return msgspec.convert(msgspec.to_builtins(estimate), Weighted)


def predicted_first_error(mean: Sequence[float | None], threshold: float) -> int:
    """The first step whose p(good) is below the threshold, -1 for none, as ProcessBench F1 counts it."""
    for position, value in enumerate(mean):
        if value is not None and value < threshold:
            return position
    return -1 if None not in mean else NOT_TOLD
