from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.consensus.reliability import Vote, estimate


def crowd(rng, *, steps, people):
    """Votes of people on steps of which a fifth is bad; `people` maps a name to what they say of (truth, rng)."""
    truth = rng.choice((1, 0, -1), size=steps, p=(0.7, 0.1, 0.2))
    return truth, [
        Vote(step, name, say(int(true), rng)) for step, true in enumerate(truth) for name, say in people.items()
    ]


def careful(true, rng):
    return true if rng.random() < 0.93 else int(rng.choice((1, 0, -1)))


KINDS = {
    "flipped": lambda true, rng: -1 if true > -1 else 1,
    "all good": lambda true, rng: 1,
    "by chance": lambda true, rng: int(rng.choice((1, 0, -1))),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_word_that_tells_nothing_or_misleads_is_found_out(kind):
    people = {"a": careful, "b": careful, "c": careful, "x": KINDS[kind]}
    _, votes = crowd(np.random.default_rng(0), steps=400, people=people)
    found = estimate(votes)
    assert all(found.informedness(name) > 0.8 for name in "abc")
    assert found.informedness("x") < 0.15


def test_one_bad_word_beside_a_word_by_chance_decides():
    _, votes = crowd(np.random.default_rng(0), steps=200, people={"a": careful, "b": careful, "x": KINDS["by chance"]})
    found = estimate(votes)
    assert found.posterior([("a", -1), ("x", 1)])[2] > 0.7
    assert found.posterior([("a", 1), ("x", -1)])[0] > 0.7


def test_steps_that_one_person_rated_alone_teach_nothing():
    assert estimate([Vote(step, "a", 1) for step in range(50)]) is None
    settled = estimate([Vote(step, "a", 1) for step in range(50)], settled={0: -1, 1: -1})
    assert settled.votes == {"a": 2}


def test_an_overlap_without_errors_does_not_wipe_out_the_errors_elsewhere():
    """One bad step of 390 was taken for good at .13, and for bad at .43, because nobody disagreed on the shared 60."""
    shared = [Vote(step, name, 1) for step in range(60) for name in "ab"]
    alone = [Vote(("alone", number), "a", -1 if number < 30 else 1) for number in range(330)]
    found = estimate([*shared, *alone])
    assert found.posterior([("a", -1)])[2] > 0.95
    assert found.posterior([("a", 1)])[0] > 0.95
    assert found.prior[2] == pytest.approx(30 / 390, abs=0.03)
    counted = estimate(shared, alone=Counter({("a", -1): 30, ("a", 1): 300}))
    assert counted.prior == pytest.approx(found.prior)
    few = estimate([*shared[:20], Vote("alone", "a", -1)])
    assert few.posterior([("a", -1)])[2] > 0.8


def test_words_that_nobody_checked_say_nothing_about_their_giver():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful})
    without = estimate(votes)
    found = estimate([*votes, *(Vote(("alone", number), "a", -1) for number in range(500))])
    assert found.of("a") == pytest.approx(without.of("a"))
    assert found.votes == without.votes


def test_what_few_words_show_of_a_person_has_a_wide_interval():
    """A constant rater had an informedness of .57 after three steps, without a word on how little is behind it."""
    three = [Vote(step, name, rating) for step, rating in enumerate((1, -1, 1)) for name in "ab"]
    few = estimate([*three, *(Vote(step, "x", 1) for step in range(3))])
    assert few.measured("x").value == pytest.approx(0, abs=0.01)
    assert few.measured("x").low < 0 < 0.5 < few.measured("x").high
    _, votes = crowd(np.random.default_rng(0), steps=400, people={"a": careful, "b": careful, "x": KINDS["all good"]})
    many = estimate(votes)
    assert many.measured("x").high < 0.1
    assert 0.75 < many.measured("a").low < many.measured("a").high < 1


def test_who_has_seen_no_bad_step_may_find_all_or_none():
    found = estimate([Vote(step, name, 1) for step in range(20) for name in "ab"])
    (_, bad), (invented, others) = found.bad_and_others("a")
    assert (bad, invented, others) == pytest.approx((0, 0, 20), abs=0.1)
    assert found.measured("a").low < 0.1
    assert found.measured("a").high > 0.9


def test_a_stranger_is_taken_for_the_average_person():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful, "c": careful})
    found = estimate(votes)
    assert found.informedness("nobody") == pytest.approx(np.mean([found.informedness(n) for n in "abc"]), abs=0.05)


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.sampled_from((1, 0, -1))), max_size=40))
def test_whatever_was_said_posteriors_are_probabilities(said):
    votes = list({(step, person): Vote(step, person, rating) for step, person, rating in said}.values())
    found = estimate(votes)
    if found is not None:
        for words in ([], [("a", 1)], [("a", -1), ("b", 0), ("stranger", 1)]):
            chances = found.posterior(words)
            assert chances.sum() == pytest.approx(1)
            assert (chances >= 0).all()
        assert -1 <= found.informedness("a") <= 1
