"""Expectations with a band. Pure."""

from typing import Annotated

import msgspec
import numpy as np
from numpy.typing import NDArray

from annotation.core.bounds import about

Array = NDArray[np.float64]
LOW, HIGH = 0.1, 0.9


class Band(msgspec.Struct, frozen=True):
    """An expectation, the median, with the bounds of its 80 % band."""

    value: Annotated[float, about("The expectation.")]
    low: Annotated[float, about("The lower end of the 80 % band.")]
    high: Annotated[float, about("The upper end of the 80 % band.")]


def band_of(draws: Array) -> Band:
    """The band of equally likely values."""
    low, value, high = np.quantile(draws, [LOW, 0.5, HIGH])
    return Band(float(value), float(low), float(high))
