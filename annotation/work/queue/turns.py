"""Orders the lanes by whose turn it is, so that the mix follows the shares. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

LOOK_AHEAD = 512  # turns


@dataclass(frozen=True)
class Tally:
    """The places of a lane: how many are `wanted` in all, and how many are `taken` (leased or done)."""

    wanted: int
    taken: int


def in_turn(lanes: Mapping[str, Tally], rng: np.random.Generator) -> list[str]:
    """The lanes with a free place: first the one whose turn it is, then the others by how far they are behind.

    A lane with share s is due `s * turn` places after `turn` turns. Always taking the first lane keeps every lane
    within one place of its due number at each turn. After a disturbance (places freed again, a lane with nothing for
    somebody) the order brings it back there. Among the lanes that can go first without breaking this bound, one is
    drawn, with a probability in proportion to how far it is behind, so that the number of the turn does not reveal the
    lane.

    The bound can always be kept, by the theorem on the chairman's assignment (Tijdeman 1980, Discrete Mathematics 32,
    323-330): place j of a lane falls due after turn (j-1)/s and no later than turn ceil(j/s), and serving the earliest
    deadline meets all deadlines.
    """
    total = sum(tally.wanted for tally in lanes.values())
    turn = sum(tally.taken for tally in lanes.values()) + 1
    # In places, times `total`.
    behind = {lane: tally.wanted * turn - tally.taken * total for lane, tally in lanes.items()}
    open_ = [lane for lane, tally in lanes.items() if tally.taken < tally.wanted]
    if len(open_) < 2:
        return open_
    order = sorted(open_, key=lambda lane: (-behind[lane], rng.random()))
    due = [lane for lane in order if behind[lane] > 0]
    if len(due) > 1:
        first = _draw(due, lanes, behind, rng)
        order = [first, *(lane for lane in order if lane != first)]
    return order


def interleave(lanes: Mapping[str, Sequence[int]], rng: np.random.Generator) -> Iterator[tuple[str, int]]:
    """Yield all lanes' ids in one order. Each lane keeps its own; in every prefix each is within one of its share."""
    waiting = {lane: iter(ids) for lane, ids in lanes.items()}
    tallies = {lane: Tally(len(ids), 0) for lane, ids in lanes.items() if ids}
    for _ in range(sum(len(ids) for ids in lanes.values())):
        lane = in_turn(tallies, rng)[0]
        yield lane, next(waiting[lane])
        tallies[lane] = Tally(tallies[lane].wanted, tallies[lane].taken + 1)


def _draw(due: Sequence[str], lanes: Mapping[str, Tally], behind: Mapping[str, int], rng: np.random.Generator) -> str:
    """One of the due lanes: drawn from those after which the others still meet their deadlines; else the earliest."""
    wanted = {lane: tally.wanted for lane, tally in lanes.items()}
    taken = {lane: tally.taken for lane, tally in lanes.items()}
    # Sorting exponential variates with these rates draws the lanes without replacement, in proportion to the rates.
    for lane in sorted(due, key=lambda lane: rng.standard_exponential() / behind[lane]):
        after = taken | {lane: taken[lane] + 1}
        if _in_time(list(wanted.values()), list(after.values())):
            return lane
    total = sum(wanted.values())
    return min(due, key=lambda lane: -(-(taken[lane] + 1) * total // wanted[lane]))


def _in_time(wanted: Sequence[int], taken: Sequence[int]) -> bool:
    """Whether all deadlines can still be met: no more places fall due by a turn than there are turns until then.

    This is Hall's condition; places that are released later only fall due later. Only two or more lanes that are ahead
    can break it, so the check ends at the turn at which all but one are no longer ahead.
    """
    total, turn = sum(wanted), sum(taken)
    both = list(zip(wanted, taken, strict=True))
    until = max([turn, *sorted(-(-of * total // max(to, 1)) for to, of in both)[:-1]])
    if until - turn > LOOK_AHEAD:
        return False
    return all(
        sum(to * later // total - of for to, of in both if to * later > of * total) <= later - turn
        for later in range(turn, until + 1)
    )
