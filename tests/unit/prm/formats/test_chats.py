"""Chats of agents: each message is a step of its own kind, and a single answer is a text to split."""

import io
import json

import pytest

from prm.formats.detection import detect
from prm.formats.messages import messages
from prm.formats.record import Record
from prm.formats.registry import FORMATS
from prm.formats.who_and_when import who_and_when
from tests.real_data import real_data

USER = {"role": "user", "content": "What does tea cost?"}


def read(format, value):
    [(_, record)] = format.read(io.BytesIO(json.dumps(value).encode()))
    assert isinstance(record, Record), record
    return record


def kinds(record):
    return [at[0].kind for at in record.positions]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("<think>I do not know.</think>\n<tool_call>price of tea</tool_call>", "tool_call"),
        ("<tool_call>\nprice of tea", "tool_call"),
        ('<function=price>{"of": "tea"}</function>', "tool_call"),
        ("Thought: I look it up.\nAction: price[tea]", "tool_call"),
        ('Thought:\nI ask back.\nAction:\n{"name": "respond", "arguments": {"content": "Which?"}}', "reasoning"),
        ("Thought: I know it.", "reasoning"),
        ("Write `<tool_call>` to call a tool.", "reasoning"),
    ],
)
def test_a_call_in_the_text_of_a_message_is_a_tool_call(said, kind):
    result = {"role": "user", "content": "<tool_response>3</tool_response>"}
    run = {"messages": [USER, {"role": "assistant", "content": said}, result, {"role": "assistant", "content": "3"}]}
    assert kinds(read(messages, run)) == [kind, "observation", "answer"]


def test_an_agents_last_message_is_the_answer_also_before_the_users_farewell():
    run = {"messages": [USER, {"role": "assistant", "content": "It costs 3."}, {"role": "user", "content": "Bye."}]}
    assert kinds(read(messages, run)) == ["answer", "observation"]


def test_a_single_answer_is_a_text_to_split():
    chat = {"messages": [USER, {"role": "assistant", "content": "Step 1: look.\n\nStep 2: It costs 3."}]}
    record = read(messages, chat)
    assert (record.positions, record.solution_text) == ([], "Step 1: look.\n\nStep 2: It costs 3.")
    assert [json.loads(line) for line in messages.write([record])] == [chat]


def test_a_rated_single_answer_is_one_step():
    chat = {"messages": [USER, {"role": "assistant", "content": "a\n\nb"}], "step_labels": {"1": -1}}
    record = read(messages, chat)
    assert (len(record.positions), record.annotations[0].first_error) == (1, 0)


CALL = {"id": "1", "type": "function", "function": {"name": "get_order", "arguments": '{"id": 7}'}}
TAU = {
    "task_id": 4,
    "trial": 1,
    "reward": 0.0,
    "info": {"task": {"user_id": "u", "instruction": "You want a refund.", "actions": []}},
    "traj": [
        {"role": "system", "content": "# Policy"},
        {"role": "user", "content": "Please refund order 7."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "1", "name": "get_order", "content": "delivered"},
        {"role": "assistant", "content": "Shall I refund it?"},
        {"role": "user", "content": "Yes"},
        {"role": "assistant", "content": "Done."},
        {"role": "user", "content": "###STOP###"},
    ],
}


def test_a_tau_bench_run_is_read_with_its_reward_and_task():
    content = json.dumps([TAU, TAU | {"trial": 2, "reward": 1.0}]).encode()
    assert detect(io.BytesIO(content), "airline.json") == "tau_bench"
    [first, second] = [record for _, record in FORMATS.get("tau_bench").read(io.BytesIO(content))]
    assert kinds(first) == ["tool_call", "observation", "reasoning", "observation", "answer", "observation"]
    assert (first.problem, first.positions[0][0].text) == ("Please refund order 7.", 'get_order({"id": 7})')
    assert (first.final_answer_correct, second.final_answer_correct) == (False, True)
    assert first.source_group == second.source_group != ""
    assert (first.external_id, second.external_id) == ("4/1", "4/2")


def test_code_that_a_terminal_runs_is_a_tool_call():
    history = [
        {"name": "Expert", "role": "assistant", "content": "We compute it.\n```python\nprint(1)\n```"},
        {"name": "Computer_terminal", "role": "user", "content": "1"},
        {"name": "Expert", "role": "assistant", "content": "An example:\n```python\nx\n```"},
        {"name": "Checker", "role": "assistant", "content": "Fine."},
    ]
    run = {"question": "q", "history": history, "mistake_step": "0"}
    assert kinds(read(who_and_when, run)) == ["tool_call", "observation", "reasoning", "reasoning"]


def test_real_calls_in_the_text_of_messages_are_tool_calls():
    path = real_data("agentprocessbench/hotpotqa.jsonl")
    found = 0
    for line, (_, record) in zip(path.read_bytes().splitlines(), messages.read(path.open("rb")), strict=True):
        for message, kind in zip(json.loads(line)["messages"][2:], kinds(record), strict=True):
            written = "<tool_call>" in str(message["content"]) and not message.get("tool_calls")
            if message["role"] == "assistant" and written:
                assert kind == "tool_call", message["content"]
                found += 1
    assert found > 20


def test_real_runs_of_several_agents_have_calls_before_their_observations():
    for path in sorted(real_data("who-and-when").glob("*/*.json")):
        [(_, record)] = who_and_when.read(path.open("rb"))
        for before, seen in zip(record.positions, record.positions[1:], strict=False):
            if before[0].kind == "tool_call":
                assert seen[0].kind == "observation"
