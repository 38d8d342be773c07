"""A record that was read in one format and is written in another is a valid record of the other."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.formats.corrections import corrections
from prm.formats.detection import detect
from prm.formats.math_shepherd import math_shepherd
from prm.formats.messages import messages
from prm.formats.mr_ben import mr_ben
from prm.formats.path import first_error
from prm.formats.plain import plain
from prm.formats.prm800k import prm800k
from prm.formats.record import PathPosition, Rating, RecordAnnotation, Rejection
from prm.formats.registry import FORMATS
from prm.formats.rlhflow import rlhflow
from prm.formats.table import originals_of
from prm.formats.writing import Loss
from tests.unit.prm.formats import native

WRITING = [name for name in FORMATS if FORMATS.get(name).exporter]
# Keys with which other tools' files name things of their own.
ODD = {
    "line": "odd", "answer": ["odd"], "solution": "odd", "steps": "odd", "label": "odd", "labels": 3, "messages": "odd",
    "history": [3], "problem": 3, "prompt": 3, "input": 3, "id": {}, "generator": 3, "is_correct": "odd",
    "conversations": 3, "error_steps": "odd", "mistake_index": "odd", "trajectory": 3, "info": 3,
}  # fmt: skip


def read_one(format, value):
    [(_, record)] = format.read(io.BytesIO(json.dumps(value).encode()))
    assert not isinstance(record, Rejection), (record.field, record.reason)
    return record


def written(format, record):
    content = b"".join(format.write([record]))
    return [item for _, item in format.read(io.BytesIO(content))]


@pytest.mark.slow
@pytest.mark.parametrize("target", WRITING)
@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_every_format_reads_what_it_writes_of_another(target, source, data):
    record = read_one(FORMATS.get(source), data.draw(getattr(native, source.upper())))
    for item in written(FORMATS.get(target), record):
        assert not isinstance(item, Rejection), (source, item.field, item.reason)


@pytest.mark.parametrize(
    ("target", "field", "index"),
    [
        ("processbench", "label", 1),
        ("big_bench_mistake", "mistake_index", 1),
        ("mr_ben", "Model_Solution_First_Error_Step", "2"),
    ],
)
def test_the_first_error_is_an_index_of_the_steps_that_are_written(target, field, index):
    own = {"text": "a", "rating": None, "source": "human", "flagged": False}
    wrong = {"text": "b", "rating": -1, "flagged": False}
    steps = [
        {"completions": None, "human_completion": own, "chosen_completion": None},
        {"completions": [{"text": "c", "rating": 0}, wrong], "human_completion": None, "chosen_completion": None},
    ]
    line = {"labeler": "x", "question": {"problem": "p"}, "label": {"steps": steps, "finish_reason": "found_error"}}
    record = read_one(prm800k, line)
    content = b"".join(FORMATS.get(target).write([record]))
    [written] = json.loads(content) if content.startswith(b"[") else [json.loads(content)]
    assert written[field] == index
    assert "b" in json.dumps(written)


@pytest.mark.parametrize("target", WRITING)
def test_other_keys_of_a_solution_never_stand_for_fields_of_the_format(target):
    record = read_one(FORMATS.get("plain"), {"problem": "p", "steps": ["Step 1: a", "b"]})
    record.extra = ODD
    path = [PathPosition(k, chosen=0, ratings=[Rating(0, "rated", rating=1)]) for k in range(2)]
    record.annotations = [RecordAnnotation("human", "solution", path, first_error=-1)]
    for item in written(FORMATS.get(target), record):
        assert not isinstance(item, Rejection), (item.field, item.reason)
        assert [at[0].text for at in item.positions] == ["Step 1: a", "b"]


STORED = {
    "math_shepherd": (math_shepherd, {"input": "p Step 1: a  ки", "label": "p Step 1: a  +"}),
    "rlhflow": (
        rlhflow,
        {"conversations": [{"role": "user", "content": "p Step 1: a"}, {"role": "assistant", "content": " + "}]},
    ),
    "mr_ben": (
        mr_ben,
        {"Question": "p", "Model_Solution_Steps": ["Step 1: a"], "Model_Solution_First_Error_Step": "N/A"},
    ),
    "prm800k": (
        prm800k,
        {
            "labeler": "x",
            "odd": 1,
            "question": {"problem": "p", "pre_generated_steps": ["Step 1: a"]},
            "label": {
                "steps": [
                    {"completions": [{"text": "Step 1: a", "rating": 1, "flagged": False}], "chosen_completion": 0}
                ],
                "finish_reason": "solution",
            },
        },
    ),
}


@pytest.mark.parametrize("target", STORED)
@pytest.mark.parametrize("source", STORED)
def test_a_stored_line_is_written_in_its_own_format_only(source, target):
    format, line = STORED[source]
    record = read_one(format, line)
    assert record.annotations[0].native["line"] == line, "the fields alone do not express it"
    [value] = [json.loads(raw) for raw in b"".join(STORED[target][0].write([record])).splitlines()]
    assert detect(io.BytesIO(json.dumps(value).encode()), "file") == target
    assert (value == line) == (source == target) or target == "prm800k"


def test_a_run_is_written_without_ratings_of_what_tools_returned():
    run = {
        "messages": [
            {"role": "user", "content": "What is 2 + 2?"},
            {"role": "assistant", "content": "I add."},
            {"role": "tool", "content": "4"},
        ]
    }
    record = read_one(messages, run)
    path = [PathPosition(k, chosen=0, ratings=[Rating(0, "rated", rating=1)]) for k in range(2)]
    record.annotations = [RecordAnnotation("human", "solution", path, first_error=-1)]
    [line] = [json.loads(raw) for raw in b"".join(messages.write([record])).splitlines()]
    assert line["step_labels"] == {"1": 1}


MR_BEN = STORED["mr_ben"][1]


@pytest.mark.parametrize("indent", [None, 1])
def test_records_of_one_object_are_read_and_numbered_alike(indent):
    wrong = MR_BEN | {"Model_Solution_First_Error_Step": "7"}
    content = json.dumps({"math": [MR_BEN, wrong], "logic": [MR_BEN]}, indent=indent).encode()
    read = [item for _, item in mr_ben.read(io.BytesIO(content))]
    originals = [json.loads(raw) for raw in originals_of("mr_ben", None)(io.BytesIO(content))]
    assert [isinstance(item, Rejection) for item in read] == [False, True, False]
    assert originals == [MR_BEN, wrong, MR_BEN]


def test_a_run_that_is_written_as_plain_is_read_as_plain():
    run = {"messages": [{"role": "user", "content": "Add."}, {"role": "assistant", "content": "a"}] * 2}
    record = read_one(messages, run | {"final_label": 1})
    content = b"".join(plain.write([record]))
    assert detect(io.BytesIO(content), "file.jsonl") == "plain"
    [(_, again)] = plain.read(io.BytesIO(content))
    assert again.positions == record.positions


def test_an_odd_key_does_not_turn_a_solution_into_steps_and_text():
    record = read_one(FORMATS.get("processbench"), {"problem": "p", "steps": ["a"], "label": -1, "solution": "a"})
    [again] = written(plain, record)
    assert (again.positions, again.solution_text) == (record.positions, None)


def walked(*ratings, name, finish="solution"):
    path = [
        PathPosition(position, chosen=0, ratings=[] if rating is None else [Rating(0, "rated", rating=rating)])
        for position, rating in enumerate(ratings)
    ]
    return RecordAnnotation("human", finish, path, source_name=name, first_error=first_error(finish, path))


@pytest.mark.parametrize(
    ("labels", "error"),
    [
        ([walked(1, -1, name="a", finish="found_error"), walked(1, 1, 1, name="b"), walked(1, 1, 1, name="c")], -1),
        ([walked(1, -1, name="a", finish="found_error"), walked(1, -1, name="b", finish="found_error")], 1),
        ([walked(1, 1, name="a", finish="give_up"), walked(1, 1, name="b", finish="give_up")], None),
        ([walked(1, None, 1, name="a"), walked(1, None, -1, name="b", finish="found_error")], None),
    ],
)
def test_a_format_with_one_label_has_what_several_agree_on(labels, error):
    record = read_one(FORMATS.get("plain"), {"problem": "p", "steps": ["a", "b", "c"]})
    record.annotations = labels
    again = written(FORMATS.get("processbench"), record)
    assert [one.annotations[0].first_error for one in again] == ([] if error is None else [error])


@pytest.mark.parametrize(
    ("neutral", "marks", "ends"), [("positive", "++-", ""), ("negative", "+--", ""), ("drop", "+", "neutral")]
)
def test_a_neutral_step_is_of_the_class_that_the_policy_says(neutral, marks, ends):
    record = read_one(FORMATS.get("plain"), {"problem": "p", "steps": ["a", "b", "c"]})
    record.annotations = [walked(1, 0, -1, name="a", finish="found_error")]
    steps = [f"Step {number}: {text}" for number, text in enumerate("abc", start=1)]
    [line] = [json.loads(raw) for raw in math_shepherd.write([record], neutral)]
    assert line["label"] == "p " + "\n".join(f"{step} {mark}" for step, mark in zip(steps, marks, strict=False))
    [chat] = [json.loads(raw) for raw in rlhflow.write([record], neutral)]
    assert "".join(turn["content"] for turn in chat["conversations"][1::2]) == marks
    losses = [one.reason for one in math_shepherd.exporter.lines(record, neutral) if isinstance(one, Loss)]
    assert losses == ([ends] if ends else [])


@pytest.mark.parametrize("target", ["math_shepherd", "rlhflow"])
@pytest.mark.parametrize(
    ("problem", "steps"),
    [("p", ["a\n\nb", "c"]), ("p\n\nq", ["a", "b\n\nc"]), ("p", ["a\n\nStep 1: b", "c"]), ("p", ["Step 1: a", "b"])],
)
def test_the_problem_of_a_chat_is_read_back_and_steps_have_numbers_if_necessary(target, problem, steps):
    record = read_one(FORMATS.get("plain"), {"problem": problem, "steps": steps})
    record.annotations = [walked(1, -1, name="a", finish="found_error")]
    [again] = written(FORMATS.get(target), record)
    assert again.problem == problem
    pairs = zip(again.positions, steps, strict=True)
    assert all(at[0].text in (text, f"Step {number}: {text}") for number, (at, text) in enumerate(pairs, start=1))


@pytest.mark.parametrize("target", ["math_shepherd", "rlhflow"])
def test_a_problem_that_a_reader_would_cut_is_left_out_with_the_reason(target):
    record = read_one(FORMATS.get("plain"), {"problem": "See Step 1 of the text.", "steps": ["a"]})
    record.annotations = [walked(1, name="a")]
    assert list(FORMATS.get(target).exporter.lines(record, "positive")) == [Loss("ambiguous")]


def test_pairs_follow_the_policy_on_neutral_steps_and_the_agreed_path():
    record = read_one(FORMATS.get("plain"), {"problem": "p", "steps": ["a", ["b", "c", "d"]]})
    rated = [Rating(0, "rated", rating=-1), Rating(1, "rated", rating=0), Rating(2, "rated", rating=1)]
    path = [PathPosition(0, chosen=0, ratings=[Rating(0, "rated", rating=1)]), PathPosition(1, ratings=rated)]
    elsewhere = [PathPosition(0, own_text="x"), PathPosition(1, own_text="y")]
    record.annotations = [
        RecordAnnotation("human", "found_error", path, source_name="a", first_error=1),
        RecordAnnotation("human", "found_error", path, source_name="b", first_error=1),
        RecordAnnotation("human", "give_up", elsewhere, source_name="c"),
    ]

    def pairs(neutral):
        return [(one.better, one.worse) for one in corrections(record, neutral)]

    assert pairs("drop") == [("d", "b")]
    assert pairs("positive") == [("d", "b"), ("c", "b")]
    assert pairs("negative") == [("d", "b"), ("d", "c")]
    assert [one.before for one in corrections(record, "drop")] == [["a"]]
