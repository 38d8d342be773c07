"""The text of an agent run is split at its turns, each of its own kind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.splitting import Splitting
from prm.splitting.automatic import LONGEST

REACT = """Thought: The ferry's timetable is online.
I should look it up.
Action: search
Action Input: {"query": "ferry timetable"}
Observation: Departures at 09:10 and 14:40.

The last boat returns at 19:00.
Thought: The later one is 14:40.
Final Answer: 14:40"""

NUMBERED_REACT = """Thought 1: I need the height of the tower.
Action 1: Search[lighthouse of Marn]
Observation 1: The lighthouse is 41 m high.
Thought 2: Now I know it.
Action 2: Finish[41 m]"""

QWEN = """I look up both prices.

<tool_call>
{"name": "price", "arguments": {"of": "tea"}}
</tool_call>
<tool_call>
{"name": "price", "arguments": {"of": "milk"}}
</tool_call>
<tool_response>
tea: $3
</tool_response>
<tool_response>
milk: $2
</tool_response>
Both together cost $5.

So five dollars are enough."""

LLAMA = """<function=run>{"command": "ls"}</function>
<function_response>
notes.txt

Thought: written in a file
</function_response>
There is one file.
<answer>notes.txt</answer>"""

TAU = """Thought:
The customer wants a refund of order 7.
Action:
{"name": "get_order", "arguments": {"id": 7}}
API output: {"status": "delivered"}
Thought:
I need a confirmation.
Action:
{"name": "respond", "arguments": {"content": "Shall I refund it?"}}"""


@pytest.mark.parametrize(
    ("text", "turns"),
    [
        (
            REACT,
            [
                ("reasoning", "Thought: The ferry's timetable is online.\nI should look it up."),
                ("tool_call", 'Action: search\nAction Input: {"query": "ferry timetable"}'),
                ("observation", "Observation: Departures at 09:10 and 14:40.\n\nThe last boat returns at 19:00."),
                ("reasoning", "Thought: The later one is 14:40."),
                ("answer", "Final Answer: 14:40"),
            ],
        ),
        (
            NUMBERED_REACT,
            [
                ("reasoning", "Thought 1: I need the height of the tower."),
                ("tool_call", "Action 1: Search[lighthouse of Marn]"),
                ("observation", "Observation 1: The lighthouse is 41 m high."),
                ("reasoning", "Thought 2: Now I know it."),
                ("answer", "Action 2: Finish[41 m]"),
            ],
        ),
        (
            QWEN,
            [
                ("reasoning", "I look up both prices."),
                ("tool_call", QWEN[QWEN.index("<tool_call>") : QWEN.index("<tool_response>")].strip()),
                ("observation", "<tool_response>\ntea: $3\n</tool_response>"),
                ("observation", "<tool_response>\nmilk: $2\n</tool_response>"),
                ("answer", "Both together cost $5.\n\nSo five dollars are enough."),
            ],
        ),
        (
            LLAMA,
            [
                ("tool_call", '<function=run>{"command": "ls"}</function>'),
                (
                    "observation",
                    "<function_response>\nnotes.txt\n\nThought: written in a file\n</function_response>",
                ),
                ("reasoning", "There is one file."),
                ("answer", "<answer>notes.txt</answer>"),
            ],
        ),
        (
            TAU,
            [
                ("reasoning", "Thought:\nThe customer wants a refund of order 7."),
                ("tool_call", 'Action:\n{"name": "get_order", "arguments": {"id": 7}}'),
                ("observation", 'API output: {"status": "delivered"}'),
                ("reasoning", "Thought:\nI need a confirmation."),
                ("answer", 'Action:\n{"name": "respond", "arguments": {"content": "Shall I refund it?"}}'),
            ],
        ),
        (
            "Let me see.\n<search> capital of Marn </search>\n<information>Ost</information>\nIt is Ost.",
            [
                ("reasoning", "Let me see."),
                ("tool_call", "<search> capital of Marn </search>"),
                ("observation", "<information>Ost</information>"),
                ("answer", "It is Ost."),
            ],
        ),
        (
            "**Thought:** costs $5\n**Action:** pay($5)\n**Observation:** paid $5\n**Answer:** done",
            [
                ("reasoning", "**Thought:** costs $5"),
                ("tool_call", "**Action:** pay($5)"),
                ("observation", "**Observation:** paid $5"),
                ("answer", "**Answer:** done"),
            ],
        ),
        (
            "Thought: go\nAction:\n<tool_call>\nls\n</tool_call>\nObservation:\n<tool_response>\na\n</tool_response>",
            [
                ("reasoning", "Thought: go"),
                ("tool_call", "Action:\n<tool_call>\nls\n</tool_call>"),
                ("observation", "Observation:\n<tool_response>\na\n</tool_response>"),
            ],
        ),
        (
            "I call it.\n<tool_call>\nls\n<tool_response>\na\n",
            [("reasoning", "I call it."), ("tool_call", "<tool_call>\nls"), ("observation", "<tool_response>\na")],
        ),
    ],
    ids=["ReAct", "numbered ReAct", "Qwen", "Llama", "tau", "Search-R1", "bold", "both", "unclosed"],
)
@pytest.mark.parametrize("rule", ["automatic", "turns"])
def test_an_agent_run_is_split_at_its_turns(rule, text, turns):
    split = Splitting(rule).split(text)
    assert list(zip(split.kinds, split.steps, strict=True)) == turns
    assert split.rule == "turns"


@pytest.mark.parametrize(
    "text",
    [
        "Thought: I know it.\n\nFinal Answer: 4",
        "Observation: the sum is even.\n\nSo it is 4.",
        "An XML call looks so:\n\n```\n<tool_call>x</tool_call>\n```\n\nThat is all.",
        "Take x < tool_call > y.\n\nThe <answer> is 4.",
    ],
)
def test_a_solution_without_tool_calls_is_no_agent_run(text):
    split = Splitting().split(text)
    assert split.rule != "turns"
    assert set(split.kinds) == {"reasoning"}


def test_a_long_thought_is_divided_and_a_long_observation_is_not():
    long = "One sentence of this. " * LONGEST
    steps = Splitting().split(f"Thought: {long}\nAction: look\nObservation: {long}")
    assert steps.kinds[-2:] == ["tool_call", "observation"]
    assert len(steps.kinds) > 4
    assert max(map(len, steps.steps[:-1])) <= LONGEST


def test_hidden_reasoning_in_a_run_is_reasoning_and_the_rest_are_turns():
    text = (
        "<think>\nI need the price.\n\nSo I look it up.\n</think>\n<tool_call>price(tea)</tool_call>\n"
        "<tool_response>3</tool_response>\n<think>It is 3.</think>\nTea costs 3."
    )
    kept = Splitting("automatic", "keep").split(text)
    assert list(zip(kept.kinds, kept.steps, strict=True)) == [
        ("reasoning", "I need the price."),
        ("reasoning", "So I look it up."),
        ("tool_call", "<tool_call>price(tea)</tool_call>"),
        ("observation", "<tool_response>3</tool_response>"),
        ("reasoning", "It is 3."),
        ("answer", "Tea costs 3."),
    ]
    separate = Splitting("automatic", "separate").split(text)
    assert separate.kinds == ["tool_call", "observation", "answer"]
    assert separate.thinking == "I need the price.\n\nSo I look it up.\n\nIt is 3."


@pytest.mark.parametrize("rule", ["automatic", "blank_lines", "lines"])
def test_the_last_step_after_kept_reasoning_is_the_answer(rule):
    split = Splitting(rule, "keep").split("<think>5?\n\nNo, 6.</think>\nAll in all:\n\nThe answer is 6.")
    assert split.steps[:2] == ["5?", "No, 6."]
    assert split.kinds == ["reasoning"] * (len(split.steps) - 1) + ["answer"]


MARKS = st.sampled_from([
    "Thought: ", "Action: ", "\nAction Input: ", "\nObservation: ", "\nFinal Answer:", "<tool_call>", "</tool_call>",
    "<function=f>", "</function>", "<tool_response>", "</tool_response>", "<answer>", "<search>", "</search>", "```\n",
    "$", "\n\n", "a. ",
])  # fmt: skip


@given(st.lists(MARKS, max_size=30).map("".join), st.sampled_from(["automatic", "turns"]))
def test_joined_again_the_turns_are_the_text(text, rule):
    split = Splitting(rule).split(text)
    assert "".join("".join(split.steps).split()) == "".join(text.split())
    assert len(split.kinds) == len(split.steps)


@pytest.mark.slow
@pytest.mark.timeout(120)  # what grows with the square of the length takes an hour
@pytest.mark.parametrize(
    "piece", ["<tool_call>", "<search>", "<search></search>", "Action:\n", "```\nAction: a\n", "<"]
)
def test_a_long_run_of_any_kind_comes_to_its_end(piece):
    text = piece * (300_000 // len(piece))
    assert "".join("".join(Splitting("turns").split(text).steps).split()) == "".join(text.split())
