"""Whose turn it is among the lanes: the mix is kept by deficit. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

LOOK_AHEAD = 512  # turns


@dataclass(frozen=True)
class Tally:
    """Places of a lane: so many `wanted` in all, of which so many are `taken` (in hand or done)."""

    wanted: int
    taken: int


def in_turn(lanes: Mapping[str, Tally], rng: np.random.Generator) -> list[str]:
    """The lanes that have a place left, the one whose turn it is first, then by how far they are behind.

    With share s of a lane, it is due `s * turn` places after `turn` turns. Always taking the first lane keeps every
    lane within one place of what is due, at each turn, and after a disturbance (places given back, a lane that had
    nothing for somebody) brings it back there. Among the lanes that may go without breaking that promise one is
    drawn, the more likely the more it is behind: nobody can tell the lane from the number of the turn.

    The promise can be kept at all by the theorem on the chairman's assignment (Tijdeman 1980, Discrete Mathematics
    32, 323-330): place j of a lane falls due after turn (j-1)/s and no later than turn ceil(j/s), and serving the
    earliest deadline meets them all.
    """
    wanted = np.array([tally.wanted for tally in lanes.values()], dtype=np.int64)
    taken = np.array([tally.taken for tally in lanes.values()], dtype=np.int64)
    names = list(lanes)
    total, turn = int(wanted.sum()), int(taken.sum()) + 1
    behind = wanted * turn - taken * total  # in places, times `total`
    open_ = np.flatnonzero(taken < wanted).tolist()
    chance = rng.random(len(names))
    order = sorted(open_, key=lambda lane: (-behind[lane], chance[lane]))
    due = [lane for lane in order if behind[lane] > 0]
    if len(due) > 1:
        first = _draw(due, wanted, taken, behind, rng)
        order = [first, *(lane for lane in order if lane != first)]
    return [names[lane] for lane in order]


def interleave(lanes: Mapping[str, Sequence[int]], rng: np.random.Generator) -> list[tuple[str, int]]:
    """One order for all lanes: each keeps its own, and every beginning of it has all within one of their shares."""
    waiting = {lane: iter(ids) for lane, ids in lanes.items()}
    tallies = {lane: Tally(len(ids), 0) for lane, ids in lanes.items() if ids}
    order = []
    for _ in range(sum(len(ids) for ids in lanes.values())):
        lane = in_turn(tallies, rng)[0]
        order.append((lane, next(waiting[lane])))
        tallies[lane] = Tally(tallies[lane].wanted, tallies[lane].taken + 1)
    return order


def _draw(due: list[int], wanted: np.ndarray, taken: np.ndarray, behind: np.ndarray, rng: np.random.Generator) -> int:
    """One of the lanes that are due: drawn, where all others can still be in time; else the earliest deadline."""
    weights = behind[due] / behind[due].sum()
    for lane in rng.choice(due, size=len(due), replace=False, p=weights):
        after = taken.copy()
        after[lane] += 1
        if _in_time(wanted, after):
            return int(lane)
    total = int(wanted.sum())
    return min(due, key=lambda lane: -(-(int(taken[lane]) + 1) * total // int(wanted[lane])))


def _in_time(wanted: np.ndarray, taken: np.ndarray) -> bool:
    """Whether all deadlines can still be met: by no turn do more places fall due than there are turns until then.

    (Hall's condition; what is released later only falls due later.) Lanes that are ahead are what can break it, and
    two of them are needed: it has to be looked at until all but one are no longer ahead.
    """
    total, turn = int(wanted.sum()), int(taken.sum())
    until = np.sort(-(-taken * total // np.maximum(wanted, 1)))[:-1].max(initial=turn)
    if until - turn > LOOK_AHEAD:
        return False
    later = np.arange(turn, until + 1, dtype=np.int64)[:, None]
    needed = np.maximum(wanted * later // total - taken, 0).sum(axis=1)
    return bool((needed <= later[:, 0] - turn).all())
