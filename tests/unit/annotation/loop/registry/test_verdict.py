"""The gate's table: what is promoted, what is kept back, and what the sentence says."""

import msgspec
import pytest

from annotation.loop.registry.verdict import decide
from tests.factories import make_comparison


def verdict(*, champion=3, gain=0.05, low=-0.01, high=0.1, solutions=40, measured=True, newer=None, **given):
    found = make_comparison(gain=gain, low=low, high=high, solutions=solutions, problems=25, samples=[gain])
    return decide(
        challenger=4,
        champion=champion,
        measured=found if measured else None,
        newer=newer,
        solutions=solutions,
        tolerance=given.get("tolerance", 0.02),
        least=20,
        holdout_uses=given.get("holdout_uses", 0),
    )


@pytest.mark.parametrize(
    ("gain", "low", "promote"),
    [(0.05, -0.01, True), (0.05, -0.021, False), (0.05, -0.05, False), (0.0, 0.0, False), (-0.01, -0.015, False)],
)
def test_promotes_on_a_gain_that_cannot_be_a_loss_beyond_the_tolerance(gain, low, promote):
    assert verdict(gain=gain, low=low).promote is promote


def test_says_why_a_challenger_is_kept_back():
    assert "no better" in verdict(gain=-0.01, low=-0.02).sentence
    unsure = verdict(gain=0.01, low=-0.06).sentence
    assert "model 3 keeps serving" in unsure
    assert "2.0 points" in unsure
    assert "−6.0 points" in unsure
    assert "So many holdout labels show a gain of 6.9 points in four of five cases." in unsure


def test_first_model_has_to_beat_the_zero_label_baseline():
    assert verdict(champion=None, gain=0.03, low=-0.2).promote
    loser = verdict(champion=None, gain=-0.03, low=-0.2)
    assert not loser.promote
    assert "drawn at random" in loser.sentence
    assert loser.rival == "the zero-label baseline"


def test_with_too_few_holdout_labels_only_a_first_model_serves():
    first = verdict(champion=None, solutions=5)
    assert first.promote
    assert "only 5 holdout solutions" in first.sentence
    later = verdict(solutions=5)
    assert not later.promote
    assert later.gain is None
    assert "the gate needs 20" in later.sentence
    assert not verdict(solutions=0, measured=False).promote


def test_counts_how_often_the_holdout_was_used():
    assert verdict(holdout_uses=7).holdout_uses == 7


def test_a_bound_over_all_rounds_needs_more_than_one_fixed_interval():
    """A fixed 95 % interval would promote this challenger, and one in three equally good ones over a campaign."""
    error = 0.03
    measured = msgspec.structs.replace(make_comparison(gain=0.045, solutions=150), error=error)
    assert measured.gain - 1.96 * error > -0.02
    judged = decide(
        challenger=4, champion=3, measured=measured, solutions=150, tolerance=0.02, least=20, holdout_uses=6
    )
    assert not judged.promote
    assert judged.low < measured.gain - 1.96 * error


NEWER = make_comparison(gain=0.06, low=-0.01, solutions=30, problems=20)


def test_labels_that_did_not_choose_the_champion_may_decide():
    """The champion was lucky on the older labels, so a better challenger looks no better on all of them."""
    late = verdict(gain=0.01, low=-0.06, newer=NEWER)
    assert (late.promote, late.only_new, late.n) == (True, True, 30)
    assert late.low == pytest.approx(-0.01)
    assert "on 30 new holdout solutions to 20 problems" in late.sentence
    assert "Only solutions labelled since the promotion of model 3 count" in late.sentence


@pytest.mark.parametrize(
    ("newer", "given"),
    [
        (NEWER, {}),  # all labels promote as well
        (make_comparison(gain=0.06, low=-0.01, solutions=19), {"gain": 0.01, "low": -0.06}),  # too few
        (make_comparison(gain=0.06, low=-0.04, solutions=30), {"gain": 0.01, "low": -0.06}),  # unsure
        (NEWER, {"champion": None, "gain": -0.03}),  # nobody was chosen before
    ],
)
def test_otherwise_all_labels_decide(newer, given):
    judged = verdict(newer=newer, **given)
    assert not judged.only_new
    assert judged.n == 40
    assert judged.promote is (not given)
