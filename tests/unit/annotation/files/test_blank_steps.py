"""A blank step of any format keeps its place, so that labels stay with their steps, or its record is refused."""

import io
import json

import pytest

from annotation.files.preparing import prepare_record
from annotation.files.record_faults import empty_steps
from annotation.models import ImportOptions
from prm.formats.mapping import LabelMapping, Mapping, StepsMapping
from prm.formats.record import Record, Rejection
from prm.formats.registry import FORMATS
from prm.formats.table import reader_of
from prm.splitting import Splitting

CALL = {"function": {"name": "look", "arguments": "{}"}}
SHOWN = {"rating": 1, "flagged": False}


def step(text, rating=1):
    return {
        "completions": [{"text": text, "rating": rating, "flagged": False}],
        "human_completion": None,
        "chosen_completion": None if rating == -1 else 0,
    }


# Four steps, the second of which is blank; the third is the first error if the format has labels.
LINES = {
    "prm800k": {
        "labeler": "l",
        "question": {"problem": "p", "pre_generated_steps": ["a", " ", "c", "d"]},
        "label": {"steps": [step("a"), step(" "), step("c", -1)], "finish_reason": "found_error"},
    },
    "processbench": {"problem": "p", "steps": ["a", "", "c", "d"], "label": 2, "final_answer_correct": False},
    "prmbench": {
        "idx": "c_1",
        "classification": "x",
        "modified_question": "p",
        "modified_process": ["a", "\n", "c", "d"],
        "error_steps": [3],
        "original_question": "p",
        "original_process": ["a"],
    },
    "mr_ben": {"Question": "p", "Model_Solution_Steps": ["a", "", "c", "d"], "Model_Solution_First_Error_Step": "3"},
    "big_bench_mistake": {"input": "p", "target": "1", "answer": "2", "steps": ["a", "", "c", "d"], "mistake_index": 2},
    "math_shepherd": {
        "input": "p Step 1: a ки\n ки\nStep 3: c ки\nStep 4: d ки",
        "label": "p Step 1: a +\n +\nStep 3: c -\nStep 4: d -",
    },
    "rlhflow": {
        "conversations": [
            turn
            for text, mark in (("p Step 1: a", "+"), ("", "+"), ("c", "-"), ("d", "-"))
            for turn in ({"role": "user", "content": text}, {"role": "assistant", "content": mark})
        ]
    },
    "trl": {"prompt": "p", "completions": ["a", "", "c", "d"], "labels": [True, True, False, False]},
    "best_of_n": {
        "problem_id": 1,
        "candidate_index": 0,
        "problem": "p",
        "steps": ["a", "", "c", "d"],
        "is_correct": True,
    },
    "messages": {
        "messages": [
            {"role": "user", "content": "p"},
            {"role": "assistant", "content": "a", "tool_calls": [CALL]},
            {"role": "tool", "content": ""},
            {"role": "assistant", "content": "c", "tool_calls": [CALL]},
            {"role": "assistant", "content": "d"},
        ],
        "step_labels": {"1": 1, "3": -1, "4": None},
    },
    "who_and_when": {
        "question": "p",
        "history": [{"content": text} for text in ("a", "", "c", "d")],
        "mistake_step": "2",
    },
    "records": {"problem": "p", "positions": [[{"text": text}] for text in ("a", "", "c", "d")]},
    "plain": {"problem": "p", "steps": ["a", "", "c", "d"]},
}


def read(name, line, mapping=None, **options):
    content = line if isinstance(line, bytes) else json.dumps(line).encode()
    [(number, item)] = reader_of(name, mapping)(io.BytesIO(content))
    return prepare_record(number, item, Splitting(), ImportOptions(**options))


def test_every_format_with_steps_is_tried():
    assert {*FORMATS} - {*LINES} == {"table", "labels", "atif", "swe_agent", "tau_bench"}


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_blank_step_keeps_its_place_and_its_record_can_be_refused(name):
    record = read(name, LINES[name])
    assert isinstance(record, Record), record
    assert empty_steps(record) == [1]
    assert len(record.positions) == 4
    assert [label.first_error for label in record.annotations] in ([], [2])
    refused = read(name, LINES[name], empty_steps="refuse")
    assert isinstance(refused, Rejection)
    assert refused.field == "steps[1]"


RATINGS = LabelMapping(["labels"], form="ratings", scale="binary")


@pytest.mark.parametrize("separator", ["\n\n", "\n", "|"])
@pytest.mark.parametrize(
    ("steps", "ratings", "blank"),
    [
        (["a", "", "c"], [1, 1, 0], [1]),
        (["a", "b", ""], [1, 1, 0], [2]),
        (["", "b", "c"], [1, 0, 0], [0]),
    ],
)
def test_blank_steps_between_separators_are_kept_if_the_labels_count_them(separator, steps, ratings, blank):
    mapping = Mapping(problem="p", steps=StepsMapping(["s"], form="separated", separator=separator), labels=[RATINGS])
    record = read("table", {"p": "q", "s": separator.join(steps), "labels": ratings}, mapping)
    assert isinstance(record, Record), record
    assert ([at[0].text for at in record.positions], empty_steps(record)) == (steps, blank)
    assert record.annotations[0].first_error == ratings.index(0)


@pytest.mark.parametrize("text", ["a\n\n\n\nb", "a\n\nb\n\n", "\n\na\n\nb"])
def test_white_space_that_the_labels_do_not_count_separates_no_steps(text):
    mapping = Mapping(problem="p", steps=StepsMapping(["s"], form="separated"), labels=[RATINGS])
    record = read("table", {"p": "q", "s": text, "labels": [1, 0]}, mapping)
    assert isinstance(record, Record), record
    assert [at[0].text for at in record.positions] == ["a", "b"]
