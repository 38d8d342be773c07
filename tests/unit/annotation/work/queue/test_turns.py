"""The mix is kept by deficit: every beginning of what is served has each lane within one of its share."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.work.queue.turns import Tally, in_turn, interleave

sizes = st.lists(st.integers(0, 40), min_size=1, max_size=7)


def off(taken, wanted):
    """By how many places the worst lane is off its share."""
    share = np.array(wanted) / sum(wanted)
    return np.abs(np.array(taken) - share * sum(taken)).max()


@given(sizes, st.integers(0, 2**32))
def test_every_beginning_has_every_lane_within_one_of_its_share(wanted, seed):
    lanes = {str(lane): list(range(size)) for lane, size in enumerate(wanted)}
    order = list(interleave(lanes, np.random.default_rng(seed)))
    assert len(order) == sum(wanted)
    taken = [0] * len(wanted)
    for lane, place in order:
        assert place == taken[int(lane)], "each lane keeps its own order"
        taken[int(lane)] += 1
        assert off(taken, wanted) < 1


@pytest.mark.slow
@given(st.lists(st.integers(2, 60), min_size=2, max_size=6), st.data())
def test_places_that_come_back_are_made_up_for(wanted, data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    taken = [0] * len(wanted)
    steps = st.lists(st.sampled_from(["claim", "claim", "give back"]), max_size=sum(wanted) // 2)
    for step in data.draw(steps):
        if step == "claim":
            taken[first(wanted, taken, rng)] += 1
        elif sum(taken):
            taken[data.draw(st.sampled_from([lane for lane, n in enumerate(taken) if n]))] -= 1
    while sum(taken) < sum(wanted):
        turn = sum(taken) + 1
        lane = first(wanted, taken, rng)
        assert taken[lane] < wanted[lane] * turn / sum(wanted), "only a lane that is due is served"
        taken[lane] += 1
    assert taken == wanted


def first(wanted, taken, rng):
    tallies = {str(lane): Tally(w, t) for lane, (w, t) in enumerate(zip(wanted, taken, strict=True))}
    return int(in_turn(tallies, rng)[0])


def test_a_lane_that_had_nothing_for_somebody_is_made_up_for_as_soon_as_it_has():
    lanes = {"control": Tally(50, 20), "holdout": Tally(50, 0)}
    assert in_turn(lanes, np.random.default_rng(0))[0] == "holdout"


@pytest.mark.slow
def test_the_number_of_the_turn_does_not_tell_the_lane():
    lanes = {
        "acquisition": range(110),
        "control": range(40),
        "holdout": range(20),
        "overlap": range(20),
        "cal": range(10),
    }
    served = np.array(
        [[lane for lane, _ in islice(interleave(lanes, np.random.default_rng(seed)), 40)] for seed in range(200)]
    )
    for lane, ids in lanes.items():
        share = len(ids) / 200
        assert (served == lane).mean(axis=0).mean() == pytest.approx(share, abs=0.03)
        assert (served != lane).any(axis=0).all(), "no turn is always this lane's"
    assert (served[:, :4] == "acquisition").mean() == pytest.approx(0.55, abs=0.1)


def test_nothing_is_in_turn_when_all_is_taken():
    assert in_turn({"control": Tally(3, 3), "holdout": Tally(0, 0)}, np.random.default_rng(0)) == []
    assert in_turn({}, np.random.default_rng(0)) == []
