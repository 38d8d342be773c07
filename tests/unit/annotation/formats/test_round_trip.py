"""What a format can express comes back from it equal in meaning."""

import io
import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.formats import plain, prm800k, processbench, trl
from annotation.formats.record import Record, Rejection
from annotation.formats.registry import READERS, detect
from tests.real_data import real_data
from tests.unit.annotation.formats import native


def there_and_back(read, write, lines, *, array=False, **options):
    """Read the lines, pass every record through a snapshot's JSON, and write it again."""
    content = json.dumps(lines).encode() if array else "\n".join(map(json.dumps, lines)).encode()
    records = [record for _, record in read(io.BytesIO(content))]
    assert not [record for record in records if isinstance(record, Rejection)]
    stored = [msgspec.json.decode(msgspec.json.encode(record), type=Record) for record in records]
    return b"".join(write(stored, **options))


def lines_of(written):
    return [json.loads(line) for line in written.splitlines()]


@given(st.lists(native.PRM800K, max_size=3))
def test_prm800k(lines):
    assert lines_of(there_and_back(prm800k.read, prm800k.write, lines)) == lines


@given(st.lists(native.PROCESSBENCH, max_size=3), st.booleans())
def test_processbench(lines, array):
    assert json.loads(there_and_back(processbench.read, processbench.write, lines, array=array)) == lines


@given(st.lists(native.TRL, max_size=3))
def test_trl(lines):
    written = there_and_back(trl.read, trl.write, lines, stop_at_first_error=False)
    assert lines_of(written) == lines


@given(st.lists(native.PLAIN, max_size=3), st.booleans())
def test_plain(lines, array):
    assert lines_of(there_and_back(plain.read, plain.write, lines, array=array)) == lines


def test_real_prm800k_records():
    path = real_data("prm800k/prm800k_real_records.jsonl")
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines_of(there_and_back(prm800k.read, prm800k.write, lines)) == lines
    with path.open("rb") as stream:
        records = [record for _, record in prm800k.read(stream)]
    assert [record.annotations[0].first_error for record in records] == [-1, 6, -1, -1, None, -1, None, -1, 2]
    assert not any("line" in record.annotations[0].native for record in records), "understood, not only copied"


@pytest.mark.parametrize("subset", ["gsm8k", "math"])
def test_real_processbench(subset):
    path = real_data(f"processbench/{subset}.json")
    lines = json.loads(path.read_text())
    assert json.loads(there_and_back(processbench.read, processbench.write, lines, array=True)) == lines


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("prm800k/prm800k_real_records.jsonl", "prm800k"),
        ("processbench/gsm8k.json", "processbench"),
        ("processbench/math.json", "processbench"),
    ],
)
def test_real_files_are_recognised(file, name):
    path = real_data(file)
    assert detect(path.read_bytes()[:5000], path.name) == name


@given(st.sampled_from(sorted(READERS)), st.data())
def test_generated_files_are_recognised(name, data):
    line = data.draw(getattr(native, name.upper()))
    if name == "prm800k":
        line["label"]["steps"] = [{"completions": [], "human_completion": None, "chosen_completion": None}]
    assert detect(json.dumps(line).encode(), "file") == name
