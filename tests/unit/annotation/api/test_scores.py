"""What a request for scores may say, and what it is told otherwise; no worker is asked here."""

import msgspec
import pytest

from annotation.api.scores import SolutionsToScore
from annotation.api.texts import SolutionToScore
from annotation.core.errors import DomainError
from tests.factories import MembershipFactory
from tests.serving_world import program_of


def read(**given):
    return msgspec.convert(given, SolutionToScore, dec_hook=lambda kind, value: kind(value)).as_text()


def test_steps_are_texts_or_have_kinds():
    text = read(problem="p", steps=["a", {"text": "b", "kind": "tool_call"}])
    assert text.steps == (("a", "reasoning"), ("b", "tool_call"))


def test_an_undivided_text_is_divided_by_the_rule():
    assert [step for step, _ in read(problem="p", text="a\nb\n\nc").steps] == ["a\nb", "c"]
    assert [step for step, _ in read(problem="p", text="a\nb\n\nc", decomposition="lines").steps] == ["a", "b", "c"]


def test_a_chat_with_one_answer_is_divided_and_a_longer_run_is_one_step_a_message():
    user, answer = {"role": "user", "content": "p"}, {"role": "assistant", "content": "a\n\nb"}
    assert read(messages=[user, answer]).steps == (("a", "reasoning"), ("b", "reasoning"))
    tool = {"role": "tool", "content": "42"}
    call = {"role": "assistant", "tool_calls": [{"function": {"name": "add", "arguments": "{}"}}]}
    run = read(messages=[{"role": "system", "content": "s"}, user, call, tool, answer])
    assert run.problem == "p"
    assert [kind for _, kind in run.steps] == ["tool_call", "observation", "answer"]


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"problem": "p"}, ""),
        ({"steps": ["a"]}, ""),
        ({"problem": "p", "steps": ["a"], "text": "a"}, ""),
        ({"problem": "p", "steps": []}, "steps"),
        ({"problem": "p", "steps": ["a"] * 513}, "steps"),
        ({"problem": "p", "steps": ["a", {"kind": "answer"}]}, "steps[1].text"),
        ({"problem": "p", "steps": ["a\0"]}, "steps[0]"),
        ({"messages": [{"role": "user", "content": "p"}, {"role": "king", "content": "a"}]}, "messages"),
        ({"solutions": [{"problem": "p", "steps": ["a"]}] * 65}, "solutions"),
        ({"solutions": [{"problem": "p", "steps": ["a"]}, {"problem": "p"}]}, "solutions[1]"),
        ({"problem": "p", "steps": ["a"], "aggregate": "max"}, "aggregate"),
        ({"problem": "p", "steps": ["a"], "timeout": 600}, "timeout"),
    ],
)
@pytest.mark.django_db
def test_what_is_wrong_is_named(given, field):
    member = MembershipFactory()
    answer = program_of(member.user).post("/api/v1/score", {"project": member.project.slug, **given})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["extra"]["field"] == field


@pytest.mark.django_db
def test_a_stranger_learns_of_no_project():
    member = MembershipFactory()
    asked = {"project": MembershipFactory().project.slug, "problem": "p", "steps": ["a"]}
    assert program_of(member.user).post("/api/v1/score", asked).status_code == 404
    assert program_of(member.user).post("/pooling", {"model": asked["project"], "input": "p\n\na"}).status_code == 404


def test_one_at_the_top_or_many_below():
    one = {"problem": "p", "steps": ["a"]}
    with pytest.raises(DomainError, match="not both"):
        msgspec.convert({"project": "x", "solutions": [one], **one}, SolutionsToScore).texts()
