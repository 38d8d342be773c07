import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.labels.consensus.reliability import estimate
from prm.consensus import CONSENSUS, Evidence, Vote


def crowd(rng, *, steps, people):
    """Votes of people on steps of which a fifth is bad; `people` maps a name to what they say of (truth, rng)."""
    truth = rng.choice((1, 0, -1), size=steps, p=(0.7, 0.1, 0.2))
    return truth, [
        Vote(step, 0, name, say(int(true), rng)) for step, true in enumerate(truth) for name, say in people.items()
    ]


def chances(found, **words):
    return found.posterior([Vote("", 0, person, rating) for person, rating in words.items()])[0, 0]


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
    found = estimate(Evidence(votes))
    assert all(found.reliability(name).value > 0.8 for name in "abc")
    assert found.reliability("x").value < 0.15


def test_one_bad_word_beside_a_word_by_chance_decides():
    _, votes = crowd(np.random.default_rng(0), steps=200, people={"a": careful, "b": careful, "x": KINDS["by chance"]})
    found = estimate(Evidence(votes))
    assert chances(found, a=-1, x=1).bad > 0.7
    assert chances(found, a=1, x=-1).good > 0.7


def test_steps_that_one_person_rated_alone_teach_nothing():
    votes = [Vote(step, 0, "a", 1) for step in range(50)]
    assert estimate(Evidence(votes)) is None
    settled = estimate(Evidence(votes, {(0, 0, 0): -1, (1, 0, 0): -1}))
    assert settled.reliability("a").labels == 2


def test_an_overlap_without_errors_does_not_wipe_out_the_errors_elsewhere():
    """One bad step of 390 was taken for good at .13, and for bad at .43, because nobody disagreed on the shared 60."""
    shared = [Vote(step, 0, name, 1) for step in range(60) for name in "ab"]
    alone = [Vote(("alone", number), 0, "a", -1 if number < 30 else 1) for number in range(330)]
    found = estimate(Evidence([*shared, *alone]))
    assert chances(found, a=-1).bad > 0.95
    assert chances(found, a=1).good > 0.95
    few = estimate(Evidence([*shared[:20], Vote("alone", 0, "a", -1)]))
    assert chances(few, a=-1).bad > 0.8


def test_words_that_nobody_checked_say_nothing_about_their_giver():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful})
    without = estimate(Evidence(votes)).reliability("a")
    unchecked = [Vote(("alone", number), 0, "a", -1) for number in range(500)]
    found = estimate(Evidence([*votes, *unchecked])).reliability("a")
    assert found.labels == without.labels
    assert found.value == pytest.approx(without.value, abs=0.05)


def test_what_few_words_show_of_a_person_has_a_wide_interval():
    """A constant rater had an informedness of .57 after three steps, without a word on how little is behind it."""
    three = [Vote(step, 0, name, rating) for step, rating in enumerate((1, -1, 1)) for name in "ab"]
    few = estimate(Evidence([*three, *(Vote(step, 0, "x", 1) for step in range(3))])).reliability("x")
    assert few.labels == 3
    assert few.low < 0 < 0.5 < few.high
    _, votes = crowd(np.random.default_rng(0), steps=400, people={"a": careful, "b": careful, "x": KINDS["all good"]})
    many = estimate(Evidence(votes))
    assert many.reliability("x").high < 0.2
    assert 0.75 < many.reliability("a").low < many.reliability("a").high < 1


def test_who_has_seen_no_bad_step_may_find_all_or_none():
    found = estimate(Evidence([Vote(step, 0, name, 1) for step in range(20) for name in "ab"])).reliability("a")
    assert found.labels == 20
    assert found.low < 0.1
    assert found.high > 0.9


def test_a_stranger_is_taken_for_the_average_person():
    _, votes = crowd(np.random.default_rng(0), steps=100, people={"a": careful, "b": careful, "c": careful})
    found = estimate(Evidence(votes))
    average = np.mean([found.reliability(name).value for name in "abc"])
    assert found.reliability("nobody").value == pytest.approx(average, abs=0.05)
    assert found.reliability("nobody").labels == 0


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from("abc"), st.sampled_from((1, 0, -1))), max_size=40))
def test_whatever_was_said_posteriors_are_probabilities(said):
    votes = list({(step, person): Vote(step, 0, person, rating) for step, person, rating in said}.values())
    found = estimate(Evidence(votes))
    if found is not None:
        for words in ({"a": 1}, {"a": -1, "b": 0, "stranger": 1}):
            good, neutral, bad, _ = chances(found, **words)
            assert good + neutral + bad == pytest.approx(1)
            assert min(good, neutral, bad) >= 0
        assert -1 <= found.reliability("a").value <= 1


def test_a_stored_fit_gives_the_same_posteriors():
    _, votes = crowd(np.random.default_rng(0), steps=60, people={"a": careful, "b": careful, "c": careful})
    found = estimate(Evidence(votes))
    again = CONSENSUS.get("reliability").restore(msgspec.json.decode(msgspec.json.encode(found.parameters)))
    for words in ({"a": 1}, {"a": -1, "b": 0, "stranger": 1}):
        assert chances(again, **words) == chances(found, **words)
    assert again.reliability("a") == found.reliability("a")
