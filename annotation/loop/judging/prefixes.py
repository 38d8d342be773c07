"""Which prefix of a solution to estimate next, and the ratings that the estimates support. Pure."""

from collections.abc import Mapping, Sequence

from annotation.models import JudgingRun

Search = JudgingRun.Search


def next_prefix(shares: Mapping[int, float], *, steps: int, search: str, threshold: float) -> int | None:
    """The length of the next prefix to estimate; None if none is left.

    `shares` has the share of right rollouts of each prefix so far, by its length. It has the whole solution, whose
    share is 1 if its final answer is right, else 0. A binary search assumes that no prefix recovers (OmegaPRM; Luo et
    al. 2024): it asks about log2(steps) prefixes, and none if the final answer is right.
    """
    if search == Search.BISECT:
        good = max((length for length, share in shares.items() if share > threshold), default=0)
        bad = min((length for length, share in shares.items() if share <= threshold), default=steps)
        return (good + bad) // 2 if bad - good > 1 else None
    for length in range(1, steps + 1):
        if length not in shares:
            return length
        if search == Search.FIRST_ERROR and shares[length] <= threshold:
            return None
    return None


def ratings_of(shares: Mapping[int, float], *, steps: int, search: str, threshold: float) -> list[int]:
    """A rating for each step: +1 if the share behind it is above the threshold, else -1.

    A search for the first error rates the steps up to it, and leaves the others unrated.
    """
    if search == Search.ALL:
        return [1 if shares[length] > threshold else -1 for length in range(1, steps + 1)]
    bad = min((length for length, share in shares.items() if share <= threshold), default=steps + 1)
    return [1] * min(bad - 1, steps) + [-1] * (bad <= steps)


def shares_by_step(shares: Mapping[int, float], steps: int) -> Sequence[float | None]:
    """The share behind each step, None if it was not estimated."""
    return [shares.get(length) for length in range(1, steps + 1)]


def most_prefixes(steps: int, search: str) -> int:
    """The most prefixes that a solution can need, without the whole solution."""
    return (steps - 1).bit_length() if search == Search.BISECT else steps - 1
