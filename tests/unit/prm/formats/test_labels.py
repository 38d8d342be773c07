"""What a rating for each step says of the whole: where the first error stands, that there is none, or neither."""

import json
from io import BytesIO

import pytest

from prm.formats.labels import rated_label
from prm.formats.messages import messages
from prm.formats.step_names import Answers, StepNames, label_of


@pytest.mark.parametrize(
    ("ratings", "kinds", "finish", "first_error"),
    [
        ([1, 0, 1], (), "solution", -1),
        ([1, -1, None], (), "found_error", 1),
        ([1, None, -1], (), "found_error", None),  # an earlier one may be wrong, too
        ([1, None], (), "give_up", None),
        ([1, None, 1], ("tool_call", "observation", "answer"), "solution", -1),
        ([None, None, 1], ("tool_call", "observation", "answer"), "give_up", None),
        ([1, None, -1], ("tool_call", "observation", "answer"), "found_error", 2),
    ],
)
def test_no_error_is_said_only_by_who_judged_every_step(ratings, kinds, finish, first_error):
    label = rated_label(ratings, kind="human", name="r", kinds=kinds)
    assert (label.finish_reason, label.first_error) == (finish, first_error)
    assert [place.position for place in label.path] == list(range(len(ratings)))


def test_a_partly_rated_run_does_not_say_that_it_is_right():
    run = {
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "I add."},
            {"role": "tool", "content": "4"},
            {"role": "assistant", "content": "4"},
        ]
    }
    lines = [run | {"step_labels": {"1": 1, "3": 1}}, run | {"step_labels": {"3": 1}}]
    read = [record for _, record in messages.read(BytesIO("\n".join(map(json.dumps, lines)).encode()))]
    assert [record.annotations[0].first_error for record in read] == [-1, None]
    assert [record.annotations[0].finish_reason for record in read] == ["solution", "give_up"]


def test_partly_rated_tasks_of_other_tools_stay_partly_rated():
    names = StepNames(rating="rating_{}", words={"good": "good", "bad": "bad", "not sure": "unsure"})

    def concluded(*words, **others):
        values = {f"rating_{number}": [word] for number, word in enumerate(words) if word}
        label = label_of(names, Answers(values | others), 4, source_kind="human")
        return label.finish_reason, label.first_error

    assert concluded("good", "good", "good", "good") == ("solution", -1)
    assert concluded("good", "good") == ("give_up", None)
    assert concluded("good", "good", "bad") == ("found_error", 2)
    assert concluded("good", None, "bad") == ("found_error", None)
    assert concluded("good", "illegible", "bad") == ("found_error", None)
    assert concluded("good", "not sure", "bad") == ("found_error", 2)
    assert concluded("good", "bad", overall=["gave up"]) == ("give_up", 1)
    assert concluded("good", "good", "good", "good", overall=["bad problem"]) == ("bad_problem", None)
