"""How a generation's budget is shared among the lanes, and in which order its items are served. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from annotation.models.policy import LaneMix
from annotation.models.queue import Lane

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
    left = budget
    for lane, share in wanted.items():
        shares[lane] = min(round(budget * share), left)
        left -= shares[lane]
    shares[Lane.ACQUISITION] = left
    return shares


def interleave(lanes: Mapping[str, Sequence[int]], rng: np.random.Generator) -> list[tuple[str, int]]:
    """One order for all lanes: each keeps its own, and which lane comes next is a fair draw.

    An annotator can infer nothing from the place of an item, and a generation that is left half done
    has all its lanes in their shares.
    """
    turns = np.array([lane for lane, ids in lanes.items() for _ in ids], dtype=object)
    rng.shuffle(turns)
    waiting = {lane: iter(ids) for lane, ids in lanes.items()}
    return [(lane, next(waiting[lane])) for lane in turns]


def draw(ids: Numbers, count: int, rng: np.random.Generator) -> tuple[Numbers, float]:
    """`count` of `ids` at random, in random order, and the probability that each had."""
    count = min(count, len(ids))
    if count == 0:
        return ids[:0], 0.0
    return rng.choice(ids, size=count, replace=False), count / len(ids)
