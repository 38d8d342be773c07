"""The 95 % interval of a share."""

from math import sqrt

Z95 = 1.959963984540054  # standard deviations on each side of a 95 % interval


def score_interval(share: float, of: float) -> tuple[float, float]:
    """The score interval of a `share` of `of` cases (E. B. Wilson, J. Am. Stat. Assoc. 22, 1927), at least one.

    It holds for few cases too: 2 of 2 gives 0.34 to 1. `of` need not be whole, for cases of unequal weight.
    """
    spread = Z95 * Z95 / of
    middle = (share + spread / 2) / (1 + spread)
    half = Z95 * sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(middle - half, 0.0), min(middle + half, 1.0)
