"""Confidence intervals: the 95 % interval of a share, and Student's t for that of a mean."""

from math import sqrt
from statistics import NormalDist

Z95 = 1.959963984540054  # standard deviations on each side of a 95 % interval


def score_interval(share: float, of: float) -> tuple[float, float]:
    """The score interval of a `share` of `of` cases (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), at least one.

    It holds for few cases too: 2 of 2 gives 0.34 to 1. `of` need not be whole, for cases of unequal weight.
    """
    spread = Z95 * Z95 / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z95 * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)


def student_quantile(chance: float, freedom: float) -> float:
    """The quantile of Student's t (M. Abramowitz and I. A. Stegun, Handbook of Mathematical Functions, 26.7.5).

    The 97.5 % point is within 0.2 % for 3 degrees of freedom or more, and too small for fewer. With 9, the points up to
    the 99.95 % one are within 0.05 %.
    """
    z = NormalDist().inv_cdf(chance)
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * freedom**4)
    )
