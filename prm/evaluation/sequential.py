"""Bounds of a gain that hold at every look, and the labels that a gain needs. No numpy.

Labels arrive over time, and each new challenger is compared on all of them. A fixed interval would err more often with
every look. The boundary here is that of an asymptotic confidence sequence (Waudby-Smith et al. 2024, "Time-uniform
central limit theory and asymptotic confidence sequences", one-sided): over all looks together, the lower bound exceeds
the true gain with a probability of at most `ERROR_BUDGET`. `research/gate.md` measures it with changing challengers.
"""

from math import log, sqrt

ERROR_BUDGET = 0.2
TUNED_FOR = 300  # solutions; the boundary is narrowest about there
POWER_QUANTILE = 0.842  # of the normal distribution at 80 %
TYPICAL_SPREAD = 0.42  # of a solution's part in the gain; `research/gate.md`
MOST_SOLUTIONS = 10**7

_BUDGET_LOG = log(1 / (2 * ERROR_BUDGET))
_RHO_SQUARED = (2 * _BUDGET_LOG + log(1 + 2 * _BUDGET_LOG)) / TUNED_FOR


def boundary(n: int) -> float:
    """How many standard errors below the gain the bound lies after `n` solutions."""
    scaled = max(n, 1) * _RHO_SQUARED
    return sqrt(2 * (scaled + 1) / scaled * log(1 + sqrt(scaled + 1) / (2 * ERROR_BUDGET)))


def detectable_gain(n: int, spread: float, tolerance: float) -> float:
    """The true gain that `n` solutions show in 80 % of the cases, if the bound may lie `tolerance` below zero.

    `spread` is the gain's standard error times the root of its number of solutions.
    """
    error = spread / sqrt(max(n, 1))
    return max(boundary(n) * error - tolerance, 0.0) + POWER_QUANTILE * error


def solutions_needed(gain: float, spread: float, tolerance: float) -> int:
    """The least number of solutions that show a true `gain` (above 0) in 80 % of the cases."""
    low, high = 0, MOST_SOLUTIONS
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if detectable_gain(middle, spread, tolerance) <= gain else (middle, high)
    return high
