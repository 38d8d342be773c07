"""Learning curves compared: the area between them, and what each needs for the same quality. numpy only."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def rising(y: Array) -> Array:
    """The nearest curve, by squared distance, that never falls: pooled adjacent violators (Ayer et al. 1955)."""
    blocks: list[tuple[float, int]] = []
    for value in y:
        mean, size = float(value), 1
        while blocks and blocks[-1][0] >= mean:
            before, length = blocks.pop()
            mean, size = (mean * size + before * length) / (size + length), size + length
        blocks.append((mean, size))
    return np.array([mean for mean, size in blocks for _ in range(size)])


def mean_height(x: Array, y: Array, low: float, high: float) -> float:
    """The area under the curve through the points, straight between them, from `low` to `high`, by its width."""
    inner = x[(x > low) & (x < high)]
    at = np.concatenate([[low], inner, [high]])
    return float(np.trapezoid(np.interp(at, x, y), at) / (high - low))


def needed(x: Array, y: Array, level: float) -> float:
    """The x where a rising curve first reaches `level`, straight in ln x between points; inf where it never does.

    At or below its first point that point's x.
    """
    if level > y[-1]:
        return float("inf")
    after = int(np.searchsorted(y, level))
    if after == 0:
        return float(x[0])
    share = (level - y[after - 1]) / (y[after] - y[after - 1])
    return float(np.exp(np.log(x[after - 1]) + share * np.log(x[after] / x[after - 1])))


def saving(base: tuple[Array, Array], other: tuple[Array, Array], shares: Array) -> tuple[Array, Array]:
    """How many times less the other curve needs than the base for equal quality, at each of some levels.

    Curves are (x, y). A level lies `share` of the way from the base's first quality to its last, both on rising
    curves. Where the other never gets there, the ratio is that of its last x, the most it can be; the second
    array [levels] is True there.
    """
    (x_base, y_base), (x, y) = base, other
    y_base, y = rising(y_base), rising(y)
    levels = y_base[0] + shares * (y_base[-1] - y_base[0])
    levels = np.minimum(levels, y_base[-1])
    needs = np.array([needed(x, y, level) for level in levels])
    never = np.isinf(needs)
    ratios = np.array([needed(x_base, y_base, level) for level in levels]) / np.where(never, x[-1], needs)
    return ratios, never
