import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.loop.selection.composition import draw, draw_evenly, share_budget
from annotation.models import LaneMix


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


def test_draw_is_uniform_and_says_with_what_probability():
    counts = np.zeros(10)
    for seed in range(2000):
        chosen, probability = draw(np.arange(10), 3, rng(seed))
        assert probability == pytest.approx(0.3)
        assert len(set(chosen.tolist())) == 3
        counts[chosen] += 1
    assert np.abs(counts / 2000 - 0.3).max() < 0.05


def test_draw_of_more_than_there_is_takes_everything():
    chosen, probability = draw(np.array([4, 7]), 5, rng())
    assert (sorted(chosen.tolist()), probability) == ([4, 7], 1.0)
    nothing, never = draw(np.array([], dtype=int), 5, rng())
    assert (nothing.tolist(), never) == ([], 0.0)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4), st.integers(0, 2)), min_size=1, max_size=80),
    st.integers(0, 100),
)
def test_an_even_draw_takes_its_share_of_every_domain_and_of_every_length_within(rows, count):
    domain, length, generator = np.array(rows).T
    places, probabilities = draw_evenly(domain, (length, generator), count, rng(count))
    assert len(places) == len(set(places.tolist())) == min(count, len(rows))
    for own in np.unique(domain):
        there = np.flatnonzero(domain == own)
        taken = np.isin(places, there)
        if not taken.any():
            continue
        # One probability a domain; of the domain, and of any length in it, its share rounded up or down.
        probability = probabilities[taken][0]
        assert probabilities[taken] == pytest.approx(probability)
        for group in (there, *(there[length[there] == one] for one in np.unique(length[there]))):
            assert abs(np.isin(places, group).sum() - probability * len(group)) < 1 + 1e-6
    if count >= len(rows):
        assert probabilities == pytest.approx(1)


def test_every_domain_is_seen_even_if_it_is_rare():
    domain = np.repeat([0, 1], [990, 10])
    for seed in range(20):
        places, probabilities = draw_evenly(domain, (), 20, rng(seed))
        rare = domain[places] == 1
        assert rare.sum() == 1
        assert probabilities[rare] == pytest.approx(1 / 10)
        assert probabilities[~rare] == pytest.approx(19 / 990)


def test_more_domains_than_draws_are_drawn_by_their_size():
    places, probabilities = draw_evenly(np.arange(50), (), 5, rng())
    assert len(places) == 5
    assert probabilities == pytest.approx(0.1)
