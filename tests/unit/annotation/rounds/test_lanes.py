import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.models import LaneMix
from annotation.rounds.lanes import draw, draw_by_stratum, interleave, share_budget


def rng(seed=0):
    return np.random.default_rng(seed)


@given(st.integers(0, 500), *[st.floats(0, 1) for _ in range(4)])
def test_shares_sum_to_the_budget_whatever_the_mix(budget, control, holdout, calibration, overlap):
    shares = share_budget(budget, LaneMix(control=control, holdout=holdout, calibration=calibration, overlap=overlap))
    assert sum(shares.values()) == budget
    assert min(shares.values()) >= 0


def test_acquisition_takes_what_the_other_lanes_leave():
    shares = share_budget(200, LaneMix(control=0.2, holdout=0.1, calibration=0.05, overlap=0.1))
    assert shares == {"control": 40, "holdout": 20, "calibration": 10, "overlap": 20, "acquisition": 110}


def test_interleaving_keeps_each_lanes_order_and_mixes_the_lanes():
    lanes = {"acquisition": list(range(100)), "control": list(range(100, 150))}
    order = interleave(lanes, rng())
    for lane, ids in lanes.items():
        assert [id_ for name, id_ in order if name == lane] == ids
    early = [name for name, _ in order[:50]]
    assert 8 <= early.count("control") <= 26


def test_draw_is_uniform_and_says_with_what_probability():
    counts = np.zeros(10)
    for seed in range(2000):
        chosen, probability = draw(list(range(10)), 3, rng(seed))
        assert probability == pytest.approx(0.3)
        assert len(set(chosen)) == 3
        counts[chosen] += 1
    assert np.abs(counts / 2000 - 0.3).max() < 0.05


def test_draw_of_more_than_there_is_takes_everything():
    chosen, probability = draw([4, 7], 5, rng())
    assert (sorted(chosen), probability) == ([4, 7], 1.0)
    assert draw([], 5, rng()) == ([], 0.0)


@given(
    st.dictionaries(st.sampled_from(["maths", "programs", "agents", ""]), st.integers(0, 60), min_size=1),
    st.integers(0, 100),
)
def test_strata_are_drawn_by_their_size(sizes, count):
    start, strata = 0, {}
    for name, size in sizes.items():
        strata[name] = list(range(start, start + size))
        start += size
    drawn = draw_by_stratum(strata, count, rng())
    assert len(drawn) == min(count, start)
    for ids in strata.values():
        taken = [id_ for id_ in drawn if id_ in ids]
        for id_ in taken:
            assert drawn[id_] == pytest.approx(len(taken) / len(ids))
        if ids and start and count <= start:
            assert abs(len(taken) - count * len(ids) / start) <= len(sizes)


def test_every_stratum_is_seen_even_if_it_is_rare():
    drawn = draw_by_stratum({"common": list(range(990)), "rare": list(range(990, 1000))}, 20, rng())
    assert sum(id_ >= 990 for id_ in drawn) == 1
