"""Expectations with a band. Pure."""

import msgspec
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
LOW, HIGH = 0.1, 0.9


class Band(msgspec.Struct, frozen=True):
    """An expectation, the median, with the bounds of its 80 % band."""

    value: float
    low: float
    high: float


def band_of(draws: Array) -> Band:
    """The band of equally likely values."""
    low, value, high = np.quantile(draws, [LOW, 0.5, HIGH])
    return Band(float(value), float(low), float(high))
