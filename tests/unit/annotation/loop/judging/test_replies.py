"""What a judge's reply says, in whatever form it comes."""

import pytest

from annotation.loop.judging.replies import Unreadable, read_verdict

ERROR = "first_error"


@pytest.mark.parametrize(
    ("reply", "ratings"),
    [
        ("Step 1 is wrong. \\boxed{1}", [1, -1]),
        ("All is well: \\boxed{-1}", [1, 1, 1]),
        ("\\boxed{−1}", [1, 1, 1]),
        ("$\\boxed{\\text{0}}$", [-1]),
        ("First I thought \\boxed{0}, but it is \\boxed{2}.", [1, 1, -1]),
        ('```json\n{"first_error": 1}\n```', [1, -1]),
        ('It is {"first_error": "2"} I say', [1, 1, -1]),
        ("<think>\\boxed{0}?</think>\\boxed{1}", [1, -1]),
    ],
)
def test_a_first_error_is_read(reply, ratings):
    assert read_verdict(ERROR, reply, steps=3).ratings == ratings


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ("\\boxed{3}", "names step 3, but the steps are numbered from 0 to 2"),
        ("\\boxed{0}, no: \\boxed{-2}", "names step -2"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("<think>\\boxed{0} and so on", "is empty"),
        ("I'm sorry, but I cannot help with that.", "no verdict"),
        ("\\boxed{none}", "no verdict"),
        ('{"first_error": true}', "no verdict"),
        ('{"first_error": 1.5}', "no verdict"),
        ('{"first_error": ', "no verdict"),
        ('{"a":' * 1500, "no verdict"),
    ],
)
def test_no_first_error_is_made_up(reply, fault):
    with pytest.raises(Unreadable, match=fault):
        read_verdict(ERROR, reply, steps=3)


def test_a_reply_that_was_cut_has_no_verdict_even_if_it_repeats_the_example():
    with pytest.raises(Unreadable, match="token limit"):
        read_verdict("every_step", 'As in {"ratings": [1, 0, -1]}, I rate', steps=3, cut=True)


def test_every_step_is_read_from_the_last_object():
    reply = 'In the form {"ratings": [1, 0, -1]}: {"note": {"x": 1}}\n```json\n{"ratings": [1, "-1", 0]}\n```'
    assert read_verdict("every_step", reply, steps=3).ratings == [1, -1, 0]


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ('{"ratings": [1, 1]}', "has 2 ratings for 3 steps"),
        ('{"ratings": "good"}', "has 0 ratings for 3 steps"),
        ('{"ratings": [1, 1, 2]}', "rates step 2 as “2”"),
        ('{"ratings": [1, null, 1]}', "rates step 1 as “None”"),
        ('{"ratings": [true, 1, 1]}', "rates step 0 as “True”"),
        ("[1, 1, 1]", "no verdict"),
    ],
)
def test_ratings_that_do_not_fit_are_refused(reply, fault):
    with pytest.raises(Unreadable, match=fault):
        read_verdict("every_step", reply, steps=3)


def test_a_project_without_neutral_gets_none():
    assert read_verdict("every_step", '{"ratings": [1, 0]}', steps=2).ratings == [1, 0]
    with pytest.raises(Unreadable, match="the rating 0"):
        read_verdict("every_step", '{"ratings": [1, 0]}', steps=2, neutral=False)


def test_a_critic_gives_a_reason_for_each_error():
    wrong = '{"step": 1, "rating": -1, "reason": "\\\\frac{1}{2}\\u0000 is wrong"}'
    reply = f'So: {{"steps": [{{"step": 0, "rating": 1}}, {wrong}]}}'
    verdict = read_verdict("critic", reply, steps=2)
    assert (verdict.ratings, verdict.reasons) == ([1, -1], {1: "\\frac{1}{2}\ufffd is wrong"})


@pytest.mark.parametrize(
    ("reply", "fault"),
    [
        ('{"steps": [{"step": 0, "rating": -1, "reason": " "}]}', "no reason for the wrong step 0"),
        ('{"steps": [{"step": 1, "rating": 1}]}', "1 rating for 1 step."),
        ('{"steps": [1]}', "no verdict"),
    ],
)
def test_a_critique_that_does_not_fit_is_refused(reply, fault):
    with pytest.raises(Unreadable, match=fault):
        read_verdict("critic", reply, steps=1)
