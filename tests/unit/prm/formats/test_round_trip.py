"""What a format can express comes back from it equal in meaning."""

import gzip
import io
import json
from itertools import islice

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from prm.formats.atif import atif
from prm.formats.best_of_n import best_of_n
from prm.formats.big_bench_mistake import big_bench_mistake
from prm.formats.detection import detect
from prm.formats.math_shepherd import math_shepherd
from prm.formats.messages import messages
from prm.formats.mr_ben import mr_ben
from prm.formats.plain import plain
from prm.formats.prm800k import prm800k
from prm.formats.prmbench import prmbench
from prm.formats.processbench import processbench
from prm.formats.raw import json_lines
from prm.formats.record import Record, Rejection
from prm.formats.records import records
from prm.formats.registry import FORMATS
from prm.formats.rlhflow import rlhflow
from prm.formats.swe_agent import swe_agent
from prm.formats.tau_bench import tau_bench
from prm.formats.trl import lines as rows_of
from prm.formats.trl import trl
from prm.formats.who_and_when import who_and_when
from prm.formats.writing import Loss
from tests.real_data import real_data
from tests.unit.prm.formats import native


def there_and_back(read, write, lines, *, array=False):
    """Read the lines, pass every record through a snapshot's JSON, and write it again."""
    content = json.dumps(lines).encode() if array else "\n".join(map(json.dumps, lines)).encode()
    records = [record for _, record in read(io.BytesIO(content))]
    assert not [record for record in records if isinstance(record, Rejection)]
    stored = [msgspec.json.decode(msgspec.json.encode(record), type=Record) for record in records]
    return b"".join(write(stored))


def lines_of(written):
    return [json.loads(line) for line in written.splitlines()]


@pytest.mark.slow
@given(st.lists(native.PRM800K, max_size=3))
def test_prm800k(lines):
    assert lines_of(there_and_back(prm800k.read, prm800k.write, lines)) == [
        line | {"source_kind": "human"} for line in lines
    ]


@given(st.lists(native.PROCESSBENCH, max_size=3), st.booleans())
def test_processbench(lines, array):
    assert json.loads(there_and_back(processbench.read, processbench.write, lines, array=array)) == lines


@given(st.lists(native.TRL, max_size=3))
def test_trl(lines):
    def write(records):
        rows = (row for one in records for row in rows_of(one, "positive", stop_at_first_error=False))
        return json_lines(row for row in rows if not isinstance(row, Loss))

    written = there_and_back(trl.read, write, lines)
    assert lines_of(written) == lines


@given(st.lists(native.PLAIN, max_size=3), st.booleans())
def test_plain(lines, array):
    assert lines_of(there_and_back(plain.read, plain.write, lines, array=array)) == lines


@pytest.mark.slow
@pytest.mark.parametrize(
    "format",
    [
        math_shepherd,
        prmbench,
        rlhflow,
        mr_ben,
        big_bench_mistake,
        best_of_n,
        messages,
        tau_bench,
        who_and_when,
        atif,
        swe_agent,
        records,
    ],
    ids=lambda format: format.name,
)
@given(st.data())
def test_every_other_format(format, data):
    name = format.name.upper()
    lines = data.draw(st.lists(getattr(native, name), max_size=3))
    assert lines_of(there_and_back(format.read, format.write, lines)) == lines


def test_real_mr_ben():
    for subject, count, unknown in (("math", 918, 0), ("coding", 238, 13)):
        content = real_data(f"mr-ben/{subject}.json").read_bytes()
        records = [record for _, record in mr_ben.read(io.BytesIO(content))]
        members = [member for group in json.loads(content).values() for member in group]
        assert len(records) == count
        assert lines_of(b"".join(mr_ben.write(records))) == members
        errors = [record.annotations[0].first_error for record in records]
        assert errors.count(None) == unknown, "a missing import is an error at no line"
        assert errors.count(-1) == sum(member["Model_Solution_Correctness"] == "correct" for member in members)


def test_real_big_bench_mistake():
    path = real_data("big-bench-mistake")
    found = 0
    for file in sorted(path.glob("*.jsonl")):
        lines = lines_of(file.read_bytes())
        records = [record for _, record in big_bench_mistake.read(io.BytesIO(file.read_bytes()))]
        assert lines_of(b"".join(big_bench_mistake.write(records))) == lines
        found += len(records)
    assert found == 2186


def test_real_best_of_n():
    content = gzip.decompress(real_data("best-of-n/gsm8k_best_of_32.jsonl.gz").read_bytes())
    lines = lines_of(content)
    assert lines_of(there_and_back(best_of_n.read, best_of_n.write, lines)) == lines


def test_real_agent_process_bench():
    path = real_data("agentprocessbench/hotpotqa.jsonl")
    lines = lines_of(path.read_bytes())
    assert lines_of(there_and_back(messages.read, messages.write, lines)) == lines
    for line, (_, record) in zip(lines, messages.read(io.BytesIO(path.read_bytes())), strict=True):
        rated = {
            str(place.position + 2): place.ratings[0].rating for place in record.annotations[0].path if place.ratings
        }
        assert rated == line["step_labels"], "system and user come first: position 0 is message 2"


def test_real_who_and_when():
    runs = sorted(real_data("who-and-when").glob("*/*.json"))
    for run in runs:
        [(_, record)] = who_and_when.read(io.BytesIO(run.read_bytes()))
        value = json.loads(run.read_bytes())
        assert record.annotations[0].first_error == int(value["mistake_step"])
        assert lines_of(b"".join(who_and_when.write([record]))) == [value]


def test_real_trajectories():
    for run in sorted(real_data("codetracer").glob("*/agent/trajectory.json")):
        [(_, record)] = atif.read(io.BytesIO(run.read_bytes()))
        assert {at[0].kind for at in record.positions} == {"reasoning", "tool_call", "observation"}
        assert lines_of(b"".join(atif.write([record]))) == [json.loads(run.read_bytes())]


def test_real_prm800k_records():
    path = real_data("prm800k/prm800k_real_records.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    said = [line | {"source_kind": "human"} for line in lines]
    assert lines_of(there_and_back(prm800k.read, prm800k.write, lines)) == said
    with path.open("rb") as stream:
        records = [record for _, record in prm800k.read(stream)]
    assert [record.annotations[0].first_error for record in records] == [-1, 6, -1, -1, None, -1, None, -1, 2]
    assert not any("line" in record.annotations[0].native for record in records), "understood, not only copied"


@pytest.mark.parametrize("subset", ["gsm8k", "math"])
def test_real_processbench(subset):
    path = real_data(f"processbench/{subset}.json")
    lines = json.loads(path.read_text())
    assert json.loads(there_and_back(processbench.read, processbench.write, lines, array=True)) == lines


REAL_FILES = [
    ("prm800k/prm800k_real_records.jsonl", "prm800k"),
    ("processbench/gsm8k.json", "processbench"),
    ("processbench/math.json", "processbench"),
    ("mr-ben/math.json", "mr_ben"),
    ("mr-ben/coding.json", "mr_ben"),
    ("big-bench-mistake/dyck_languages.jsonl", "big_bench_mistake"),
    ("agentprocessbench/hotpotqa.jsonl", "messages"),
    ("who-and-when/algorithm-generated/1.json", "who_and_when"),
    ("codetracer/cancel-async-tasks__4gQ8rsy/agent/trajectory.json", "atif"),
]


@pytest.mark.parametrize(("file", "name"), REAL_FILES)
def test_real_files_are_recognised(file, name):
    path = real_data(file)
    assert detect(io.BytesIO(path.read_bytes()), path.name) == name


@given(st.sampled_from(sorted(FORMATS)), st.data())
def test_generated_files_are_recognised(name, data):
    line = data.draw(getattr(native, name.upper()))
    if name == "prm800k":
        line["label"]["steps"] = [{"completions": [], "human_completion": None, "chosen_completion": None}]
    assert detect(io.BytesIO(json.dumps(line).encode()), "file") == name


@pytest.mark.parametrize(("file", "name"), REAL_FILES)
def test_records_of_real_files_are_recognised_and_read_back(file, name):
    read = FORMATS.get(name).read(io.BytesIO(real_data(file).read_bytes()))
    records_are_recognised_and_read_back([record for _, record in islice(read, 20)])


@given(st.sampled_from(sorted({*FORMATS} - {"labels", "table"})), st.data())
def test_records_of_any_file_are_recognised_and_read_back(name, data):
    line = json.dumps(data.draw(getattr(native, name.upper()))).encode()
    read = [record for _, record in FORMATS.get(name).read(io.BytesIO(line))]
    assume(not any(isinstance(record, Rejection) for record in read))
    records_are_recognised_and_read_back(read)


def records_are_recognised_and_read_back(originals):
    for record in originals:
        record.consensus = []
    content = b"".join(records.write(originals))
    assert detect(io.BytesIO(content), "labels.jsonl") == "records"
    assert [record for _, record in records.read(io.BytesIO(content))] == originals


def test_a_swe_agent_run_has_its_thoughts_actions_observations_and_patch_as_steps():
    settings = {"agent": {"model": {"name": "m-1", "temperature": 0.0}}, "problem_statement": {"id": "repo__1"}}
    run = {
        "trajectory": [
            {"thought": "Look.", "action": "ls\n", "observation": "a.py", "response": "Look.\nls", "state": {}},
            {"thought": "", "action": "str_replace_editor create b.py", "observation": "", "response": "", "state": {}},
        ],
        "history": [
            {"role": "system", "content": "You are an agent."},
            {"role": "user", "content": "An example.", "is_demo": True},
            {"role": "user", "content": [{"type": "text", "text": "Fix the bug."}]},
        ],
        "info": {"exit_status": "submitted", "submission": "diff --git a/b.py"},
        "replay_config": json.dumps(settings),
    }
    [(_, record)] = swe_agent.read(io.BytesIO(json.dumps(run, indent=1).encode()))
    assert record.problem == "Fix the bug."
    assert [(at[0].kind, at[0].text) for at in record.positions] == [
        ("reasoning", "Look."),
        ("tool_call", "ls"),
        ("observation", "a.py"),
        ("edit", "str_replace_editor create b.py"),
        ("answer", "diff --git a/b.py"),
    ]
    assert (record.external_id, record.generator, record.provenance.temperature) == ("repo__1", "m-1", 0.0)
    assert lines_of(b"".join(swe_agent.write([record]))) == [run]
