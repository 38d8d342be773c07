"""One splitter for every text, and what it does with a model's hidden reasoning."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import DataError
from prm.splitting import RULES, THINKING, Splitting
from prm.splitting.splitting import Passage, passages

STEPS = ["There are 3 apples.", "2 more make 3 + 2 = 5.", "The answer is 5."]


@pytest.mark.parametrize("between", ["\n\n", "\n", "\r\n", "\r\n\r\n", " \n \n"])
def test_line_ends_do_not_change_the_steps(between: str) -> None:
    assert Splitting().split(between.join(STEPS)).steps == STEPS


@pytest.mark.parametrize("between", ["\n\n", "\r\n\r\n"])
@pytest.mark.parametrize("rule", sorted(RULES))
def test_a_step_of_several_lines_is_the_same_with_windows_line_ends(rule: str, between: str) -> None:
    text = between.join(["First:\nx = 1,\ny = 2.", "Then x + y = 3."])
    plain, windows = Splitting(rule).split(text.replace("\r", "")), Splitting(rule).split(text.replace("\n", "\r\n"))
    assert plain.steps == windows.steps


@pytest.mark.parametrize("thinking", THINKING)
def test_hidden_reasoning_goes_where_the_choice_says(thinking: str) -> None:
    text = "<think>\nHm, 5?\n\nNo: 6.\n</think>\n\nAll in all 6.\n\nThe answer is 6."
    split = Splitting("blank_lines", thinking).split(text)
    said = ["All in all 6.", "The answer is 6."]
    assert split.steps == (["Hm, 5?", "No: 6.", *said] if thinking == "keep" else said)
    assert split.thinking == ("Hm, 5?\n\nNo: 6." if thinking == "separate" else "")
    assert split.thinking_length == len("Hm, 5?\n\nNo: 6.")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a\n\nb", [("a\n\nb", False)]),
        ("<think>a</think>b", [("a", True), ("b", False)]),
        ("<THINKING>a</Thinking>b", [("a", True), ("b", False)]),
        ("<think></think>\n\nb", [("b", False)]),
        ("<think>a, and no end", [("a, and no end", True)]),
        ("a</think>b", [("a", True), ("b", False)]),
        ("<think>a <think> b</think>c", [("a <think> b", True), ("c", False)]),
        ("<think>a</think>b<think>c</think>d", [("a", True), ("b", False), ("c", True), ("d", False)]),
        ("<think>a</think>b</think>c", [("a", True), ("b", False), ("c", False)]),
        ("<think>```\na</think>b", [("```\na", True), ("b", False)]),
        ("<think>\n```x\n```</think>b", [("```x\n```", True), ("b", False)]),
        ("Print `<think>` first.", [("Print `<think>` first.", False)]),
        ("```\n<think>a</think>\n```\nb", [("```\n<think>a</think>\n```\nb", False)]),
        ("", []),
    ],
)
def test_where_hidden_reasoning_begins_and_ends(text: str, found: list[tuple[str, bool]]) -> None:
    assert passages(text) == [Passage(*one) for one in found]


@given(st.lists(st.sampled_from(["<think>", "</think>", "```\n", "`", "a. ", "\n\n", "\r\n"])).map("".join))
def test_nothing_but_tags_and_white_space_is_lost_when_reasoning_is_kept(text: str) -> None:
    steps = Splitting("blank_lines", "keep").split(text).steps
    squeezed = "".join("".join(steps).split())
    assert squeezed.replace("<think>", "").replace("</think>", "") == "".join(text.split()).replace(
        "<think>", ""
    ).replace("</think>", "")
    assert Splitting("blank_lines", "drop").split(text).steps == Splitting("blank_lines").split(text).steps


@pytest.mark.parametrize("choice", [("by the moon", "drop"), ("lines", "hide")])
def test_an_unknown_choice_is_refused(choice: tuple[str, str]) -> None:
    with pytest.raises(DataError, match="choose one of"):
        Splitting(*choice)
