"""Figures of gold answers, against cases worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.work.gold.gold_accuracy import Answer, accuracy_of, is_right, outcome_of, share_of, suspects

POSITIONS = st.integers(-1, 9)


@pytest.mark.parametrize(
    ("said", "known", "accepted", "tolerance", "right"),
    [
        (3, 3, (), 0, True),
        (4, 3, (), 0, False),
        (4, 3, (), 1, True),
        (2, 3, (), 1, True),
        (5, 3, (), 1, False),
        (5, 3, (5,), 0, True),
        (6, 3, (5,), 1, True),
        (-1, -1, (), 0, True),
        (-1, 0, (), 1, False),  # "no error" is no neighbour of the first step
        (0, -1, (), 1, False),
        (-1, 4, (-1,), 0, True),
        (None, -1, (), 3, False),  # gave up
    ],
)
def test_an_answer_is_right_where_a_known_first_error_is_near_enough(said, known, accepted, tolerance, right):
    assert is_right(said, known, accepted, tolerance=tolerance) is right


def test_ten_answers_by_hand():
    pairs = [(2, 2), (2, 2), (3, 2), (1, 2), (5, 2), (-1, 2), (-1, -1), (-1, -1), (0, -1), (None, 2)]
    answers = [Answer(person=1, solution=n, first_error=said, reference=known) for n, (said, known) in enumerate(pairs)]
    found = accuracy_of(answers)
    assert (found.exact.count, found.right.count, found.within_one.count) == (4, 4, 6)
    assert found.presence.count == 7, "five found some error where there is one, two found none where there is none"
    assert found.outcomes == {"right": 4, "too_early": 1, "too_late": 2, "missed": 1, "invented": 1, "gave_up": 1}
    near = accuracy_of(answers, tolerance=1)
    assert (near.right.count, near.exact.count) == (6, 4)
    assert near.outcomes["too_late"] == 1


def test_the_interval_is_wilsons():
    """R. G. Newcombe, "Two-sided confidence intervals for the single proportion", Statistics in Medicine 17 (1998),
    table I, method 3: 81 of 263 gives 0.2553 to 0.3662, and 0 of 20 gives 0 to 0.1611."""
    share = share_of(81, 263)
    assert (share.low, share.high) == (pytest.approx(0.2553, abs=5e-5), pytest.approx(0.3662, abs=5e-5))
    none, all_ = share_of(0, 20), share_of(20, 20)
    assert (none.low, none.high) == (0.0, pytest.approx(0.1611, abs=5e-5))
    assert (all_.low, all_.high) == (pytest.approx(1 - 0.1611, abs=5e-5), pytest.approx(1.0))
    assert share_of(0, 0).value is None


@given(
    said=st.none() | POSITIONS,
    known=POSITIONS,
    accepted=st.frozensets(POSITIONS, max_size=3),
    tolerance=st.integers(0, 4),
)
def test_what_is_right_stays_right_with_more_tolerance_and_only_that_has_the_outcome_right(
    said, known, accepted, tolerance
):
    right = is_right(said, known, accepted, tolerance=tolerance)
    assert not right or is_right(said, known, accepted, tolerance=tolerance + 1)
    answer = Answer(person=1, solution=1, first_error=said, reference=known, accepted=accepted)
    assert (outcome_of(answer, tolerance=tolerance) == "right") is right


def answers(*words):
    """`words` are (person, solution, right)."""
    return [Answer(person=p, solution=s, first_error=1 if right else 2, reference=1) for p, s, right in words]


def test_gold_is_suspect_where_good_annotators_say_something_else():
    sound = [(person, solution, True) for person in (1, 2) for solution in (10, 11, 12)]
    found = suspects(answers(*sound, (1, 99, False), (2, 99, False)), disputed_by=0.5)
    assert {solution: (share.count, share.of) for solution, share in found.items()} == {99: (2, 2)}
    assert suspects(answers(*sound, (1, 99, False), (2, 99, True)), disputed_by=0.6) == {}
    assert 99 in suspects(answers(*sound, (1, 99, False), (2, 99, True)), disputed_by=0.5)


def test_the_word_of_whoever_errs_elsewhere_or_has_answered_little_speaks_against_no_gold():
    careless = [(1, 10, True), (1, 11, False), (1, 12, False)]
    new = [(2, 10, True), (2, 11, True)]
    assert suspects(answers(*careless, *new, (1, 99, False), (2, 99, False)), disputed_by=0.1) == {}
