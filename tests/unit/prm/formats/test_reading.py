"""Streaming reads: bounded, and clear about what cannot be read."""

import io
import json
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from prm.errors import FormatError
from prm.formats import raw
from prm.formats.atif import atif
from prm.formats.big_bench_mistake import big_bench_mistake
from prm.formats.detection import detect
from prm.formats.math_shepherd import math_shepherd
from prm.formats.messages import messages
from prm.formats.mr_ben import mr_ben
from prm.formats.plain import plain
from prm.formats.prm800k import prm800k
from prm.formats.prmbench import prmbench
from prm.formats.processbench import processbench
from prm.formats.reading import read_records
from prm.formats.record import Rejection
from prm.formats.rlhflow import rlhflow
from prm.formats.trl import trl
from prm.formats.who_and_when import who_and_when
from tests.unit.prm.formats.native import TEXT

PROBLEM = '{"problem": "p", "steps": ["a"]}'


BIG_BENCH = {"input": "p", "target": "t", "answer": "a", "steps": ["a"]}
MR_BEN = {"Question": "p", "Model_Solution_Steps": ["a"]}
USER = {"role": "user", "content": "p Step 1: a"}
ANSWER = {"role": "assistant", "content": "a"}


class Dribble(io.BytesIO):
    """A stream that gives a few bytes at a time, whatever is asked for."""

    def read(self, size=-1):
        return super().read(3)


def rejections(read, content):
    found = [item for item in read(io.BytesIO(content)) if isinstance(item[1], Rejection)]
    return [(line, item.field, item.reason) for line, item in found]


@given(st.lists(st.dictionaries(TEXT, TEXT | st.lists(TEXT), max_size=3)), st.sampled_from([None, 2]), st.booleans())
def test_an_array_is_cut_into_its_elements(elements, indent, ascii_only):
    content = json.dumps(elements, indent=indent, ensure_ascii=ascii_only).encode()
    assert [value for _, value in read_records(Dribble(content), lambda value: value)] == elements


def test_lines_keep_their_numbers_over_blank_lines_and_skipped_records():
    content = f"\ufeff\n{PROBLEM}\r\n\n  \n{PROBLEM}\n{PROBLEM}".encode()
    assert [line for line, _ in plain.read(io.BytesIO(content))] == [2, 5, 6]
    assert [line for line, _ in plain.read(io.BytesIO(content), skip=1)] == [5, 6]
    assert [line for line, _ in plain.read(Dribble(content), skip=2)] == [6]


def test_a_reader_lists_the_names_that_a_field_may_have():
    steps = b'[{"text": "a", "kind": "song"}]'
    [(_, of_plain)] = plain.read(io.BytesIO(b'{"problem": "p", "steps": %s}' % steps))
    [(_, of_messages)] = messages.read(io.BytesIO(b'{"messages": [{"role": "poet"}]}'))
    assert of_plain.reason.startswith("Expected one of answer, edit, ")
    assert of_messages.reason.startswith("Expected one of assistant, developer, ")
    assert (of_plain.field, of_messages.field) == ("steps[0].kind", "messages[0].role")


@pytest.mark.parametrize(
    ("content", "field", "reason"),
    [
        (b'{"problem": "p", "steps": ["a"]', "", "not valid JSON"),
        (b'{"problem": "p\xff", "steps": ["a"]}', "", "not UTF-8 text: invalid start byte at byte 14 of the record"),
        (b'{"problem": "p\\u0000", "steps": ["a"]}', "problem", "NUL"),
        (b'{"problem": "p", "steps": ["a"], "x": {"\\u0000": 1}}', "x.\N{REPLACEMENT CHARACTER}", "NUL"),
        (b'{"problem": "p\\ud800", "steps": ["a"]}', "", "not valid JSON"),
        (b'{"problem": 3, "steps": ["a"]}', "problem", "Expected a text, got a whole number"),
        (b'{"problem": "p", "steps": ["a", null]}', "steps[1]", "Expected"),
        (b'{"problem": "p", "steps": [{"text": "a", "kind": "song"}]}', "steps[0].kind", "got 'song'"),
        (b'{"problem": "p", "steps": "a"}', "steps", "Expected a list or null, got a text"),
        (b'{"problem": "p", "steps": ["a"], "solution": "a"}', "steps", "both"),
        (b'{"steps": ["a"]}', "problem", "missing required field `problem`"),
        (b"[1, 2]", "", "Expected an object"),
        (b"3", "", "Expected an object"),
        (b"NaN", "", "not valid JSON"),
        (b'{"problem": "p", "steps": ["a"], "x": ' + b"[" * 9000 + b"]" * 9000 + b"}", "", "nested too deeply"),
    ],
)
def test_a_bad_record_is_named_and_the_rest_goes_on(content, field, reason):
    if content.startswith(b"["):
        content = b"[" + content + b"]"
        items = list(plain.read(io.BytesIO(content)))
        assert len(items) == 1
    else:
        items = list(plain.read(io.BytesIO(content + b"\n" + PROBLEM.encode())))
        assert len(items) == 2
        assert items[1][1].problem == "p"
    line, rejection = items[0]
    assert isinstance(rejection, Rejection)
    assert (line, rejection.line, rejection.field) == (1, 1, field)
    assert reason.lower() in rejection.reason.lower()


@pytest.mark.parametrize(
    ("read", "line", "field"),
    [
        (processbench.read, {"problem": "p", "steps": ["a"], "label": 1}, "label"),
        (processbench.read, {"problem": "p", "steps": ["a"], "label": -2}, "label"),
        (processbench.read, {"problem": "p", "steps": ["a"], "label": "0"}, "label"),
        (trl.read, {"prompt": "p", "completions": ["a"], "labels": []}, "labels"),
        (trl.read, {"prompt": "p", "completions": ["a"], "labels": [1]}, "labels[0]"),
        (prmbench.read, {"modified_question": "p", "modified_process": ["a"], "error_steps": [0]}, "error_steps"),
        (big_bench_mistake.read, BIG_BENCH | {"mistake_index": 1}, "mistake_index"),
        (big_bench_mistake.read, BIG_BENCH | {"mistake_index": -1}, "mistake_index"),
        (mr_ben.read, MR_BEN | {"Model_Solution_First_Error_Step": "0"}, "Model_Solution_First_Error_Step"),
        (mr_ben.read, MR_BEN | {"Model_Solution_First_Error_Step": "2"}, "Model_Solution_First_Error_Step"),
        (mr_ben.read, MR_BEN | {"Model_Solution_First_Error_Step": "-1"}, "Model_Solution_First_Error_Step"),
        (math_shepherd.read, {"input": "p", "label": "p"}, "input"),
        (math_shepherd.read, {"input": "p Step 1: a ки", "label": "p Step 1: a"}, "label"),
        (math_shepherd.read, {"input": "p Step 1: a ки b", "label": "p Step 1: a + b"}, "input"),
        (rlhflow.read, {"conversations": [USER]}, "conversations"),
        (rlhflow.read, {"conversations": [USER, {"role": "assistant", "content": "?"}]}, "conversations[1].content"),
        (rlhflow.read, {"conversations": [USER, USER]}, "conversations[1].role"),
        (messages.read, {"messages": []}, "messages"),
        (messages.read, {"messages": [USER, ANSWER], "step_labels": {"0": 1}}, "step_labels.0"),
        (messages.read, {"messages": [USER, ANSWER], "step_labels": {"1": 2}}, "step_labels[...]"),
        (who_and_when.read, {"question": "p", "history": [], "mistake_step": "0"}, "mistake_step"),
        (who_and_when.read, {"question": "p", "history": [ANSWER], "mistake_step": "N/A"}, "mistake_step"),
        (atif.read, {"schema_version": "1", "steps": [], "agent": {"name": "a"}}, "schema_version"),
        (atif.read, {"schema_version": "ATIF-v1.2", "steps": [], "agent": {"name": "a"}}, "steps"),
    ],
)
def test_labels_that_fit_no_step_are_refused(read, line, field):
    assert [found[1] for found in rejections(read, json.dumps(line).encode())] == [field]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"finish_reason": "bored"}, "label.finish_reason"),
        ({"steps": [{"completions": [{"text": "a", "rating": 2}]}]}, "label.steps[0].completions[0].rating"),
        ({"steps": [{"completions": [{"text": "a"}], "chosen_completion": 1}]}, "label.steps[0].chosen_completion"),
        ({"steps": [{"completions": [{"text": "a"}], "chosen_completion": -1}]}, "label.steps[0].chosen_completion"),
        ({"steps": None}, "label.steps"),
    ],
)
def test_prm800k_faults_name_their_field(change, field):
    label = {"steps": [], "total_time": 1, "finish_reason": "solution", **change}
    line = {"labeler": "l", "question": {"problem": "p"}, "label": label}
    assert [found[1] for found in rejections(prm800k.read, json.dumps(line).encode())] == [field]


@pytest.mark.parametrize(
    ("content", "reasons"),
    [
        (f"[{PROBLEM}", ["the file ends in the middle of this record"]),
        (f"[{PROBLEM},", ["the array is not closed"]),
        (f"[{PROBLEM}, {{]", ["the file ends in the middle of this record"]),
        (f"[{PROBLEM}, }}, {PROBLEM}]", ["not valid JSON"]),
        (f"[{PROBLEM},, {PROBLEM}]", ["not valid JSON"]),
        (f"[{PROBLEM}] trailing", ["text after the end of the array"]),
        ('["\\', ["the file ends in the middle of this record"]),
        ("[]", []),
        ("", []),
    ],
)
def test_broken_arrays(content, reasons):
    for stream in (io.BytesIO(content.encode()), Dribble(content.encode())):
        found = [item.reason for _, item in plain.read(stream) if isinstance(item, Rejection)]
        assert [a[: len(b)] for a, b in zip(found, reasons, strict=True)] == reasons


@pytest.mark.parametrize("frame", ["%s\n%s\n", "[%s, %s]"])
def test_a_huge_record_is_dropped_without_being_held(frame, monkeypatch):
    monkeypatch.setattr(raw, "MAX_RECORD_BYTES", 1_000_000)
    content = (frame % ('{"problem": "' + "x" * 30_000_000 + '"}', PROBLEM)).encode()
    stream = io.BytesIO(content)
    tracemalloc.start()
    items = list(plain.read(stream))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [(line, type(item).__name__) for line, item in items] == [(1, "Rejection"), (2, "Record")]
    assert items[0][1].reason.startswith("longer than")
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"PK\x03\x04", "file.zip is a zip archive. Unpack it"),
        (b"\xff\xfe{\x00", "UTF-16"),
        (b" \n", "empty"),
        (b"%PDF-1.4\n%\xe2\xe3\n\x00\x01", "Stepmark cannot read file.zip. Use JSON Lines, a JSON array, CSV"),
        (b"one column\nof words\n", "Stepmark cannot read file.zip. Use JSON Lines, a JSON array, CSV"),
    ],
)
def test_files_of_no_known_format_are_refused_with_the_reason(head, reason):
    with pytest.raises(FormatError, match=reason) as refused:
        detect(io.BytesIO(head), "file.zip")
    assert refused.value.code == "unknown_format"


@pytest.mark.parametrize("head", [b"a,b\n1,2\n", b'{"a": 1}\n'])
def test_a_file_of_other_columns_is_a_table(head):
    assert detect(io.BytesIO(head), "file.bin") == "table"
