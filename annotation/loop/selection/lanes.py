"""How a generation's budget is shared among the lanes. Pure."""

import numpy as np
from numpy.typing import NDArray

from annotation.models import Lane
from annotation.models.policy import LaneMix

Numbers = NDArray[np.int64]


def share_budget(budget: int, mix: LaneMix) -> dict[str, int]:
    """Items a lane, summing to `budget`; acquisition takes what the other lanes leave."""
    wanted = {
        Lane.HOLDOUT: mix.holdout,
        Lane.CALIBRATION: mix.calibration,
        Lane.CONTROL: mix.control,
        Lane.OVERLAP: mix.overlap,
    }
    shares: dict[str, int] = {}
    remaining = budget
    for lane, share in wanted.items():
        shares[lane] = min(round(budget * share), remaining)
        remaining -= shares[lane]
    shares[Lane.ACQUISITION] = remaining
    return shares


def draw(ids: Numbers, count: int, rng: np.random.Generator) -> tuple[Numbers, float]:
    """`count` of `ids` at random, in random order, and the probability that each had."""
    count = min(count, len(ids))
    if count == 0:
        return ids[:0], 0.0
    return rng.choice(ids, size=count, replace=False), count / len(ids)
