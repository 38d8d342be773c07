"""How a generation's budget is shared among the lanes, and in which order its items are served. Pure."""

from collections.abc import Mapping, Sequence

import numpy as np

from annotation.models.policy import LaneMix
from annotation.models.queue import Lane


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


def draw(ids: Sequence[int], count: int, rng: np.random.Generator) -> tuple[list[int], float]:
    """`count` of `ids` at random, in random order, and the probability that each had."""
    count = min(count, len(ids))
    if count == 0:
        return [], 0.0
    chosen = rng.choice(np.array(ids, dtype=np.int64), size=count, replace=False)
    return [int(one) for one in chosen], count / len(ids)


def draw_by_stratum(strata: Mapping[str, Sequence[int]], count: int, rng: np.random.Generator) -> dict[int, float]:
    """`count` ids shared among the strata by their size (each stratum gets at least one while it lasts).

    Returns the inclusion probability of each chosen id, in an order that mixes the strata.
    """
    sizes = {name: len(ids) for name, ids in strata.items() if ids}
    count = min(count, sum(sizes.values()))
    exact = {name: count * size / sum(sizes.values()) for name, size in sizes.items()}
    quotas = {name: min(max(int(share), 1), sizes[name]) for name, share in exact.items()}
    by_remainder = sorted(exact, key=lambda name: exact[name] - quotas[name], reverse=True)
    while sum(quotas.values()) < count:
        for name in by_remainder:
            if sum(quotas.values()) < count and quotas[name] < sizes[name]:
                quotas[name] += 1
    while sum(quotas.values()) > count:
        quotas[max(quotas, key=lambda name: quotas[name])] -= 1
    drawn: dict[int, float] = {}
    for name, quota in quotas.items():
        ids, probability = draw(strata[name], quota, rng)
        drawn.update(dict.fromkeys(ids, probability))
    order = rng.permutation(np.array(list(drawn), dtype=np.int64))
    return {int(one): drawn[int(one)] for one in order}
