"""The format of a file is detected from its whole first record, however long that is."""

import io
import json

import pytest

from prm.errors import FormatError
from prm.formats.detection import HEAD_BYTES, MOST_BYTES, detect
from prm.formats.labels import index_label
from prm.formats.plain import read
from prm.formats.registry import FORMATS
from tests.unit.prm.formats.hostile import EXAMPLES

LONG = "word " * (HEAD_BYTES // 4)
PROCESSBENCH = {
    "id": "a",
    "generator": "m",
    "problem": "p",
    "steps": [LONG, "b"],
    "final_answer_correct": True,
    "label": 1,
}
RUN = {"history": [{"content": LONG, "name": "Planner", "role": "assistant"}], "question": "q", "mistake_step": "0"}
SHORT = {"problem": "p", "steps": ["a"]}


def lines(*values):
    return "\n".join(map(json.dumps, values)).encode()


@pytest.mark.parametrize(
    ("content", "format"),
    [
        (lines(PROCESSBENCH, PROCESSBENCH), "processbench"),
        (lines(PROCESSBENCH), "processbench"),
        (json.dumps([PROCESSBENCH, PROCESSBENCH]).encode(), "processbench"),
        (json.dumps([PROCESSBENCH], indent=1).encode(), "processbench"),
        (json.dumps(RUN, indent=1).encode(), "who_and_when"),
        (lines({"text": LONG} | SHORT, SHORT), "plain"),
        (f"essay,question,steps,first_error\n{LONG},q,a|b,1\n".encode(), "table"),
        ((",".join([LONG, "question", "steps"]) + "\nx,q,a\n").encode(), "table"),
    ],
    ids=["lines", "one line", "array", "indented array", "indented object", "plain", "CSV row", "CSV header"],
)
def test_a_first_record_longer_than_the_first_bytes_is_read_to_its_end(content, format):
    assert len(content) > HEAD_BYTES
    assert detect(io.BytesIO(content), "file.jsonl") == format


@pytest.mark.parametrize("run", ["atif", "swe_agent", "tau_bench"])
@pytest.mark.parametrize("format", ["math_shepherd", "prmbench", "processbench", "rlhflow", "plain"])
def test_a_labelled_run_in_another_format_is_read_back_as_that_format(run, format):
    """Its line has the run in its other fields. Read as the run, the file had no labels, and nothing said so."""
    [(_, record)] = FORMATS.get(run).read(io.BytesIO(EXAMPLES[run].encode()))
    steps = len(record.positions)
    record.annotations = [index_label(steps - 1, steps, field="label", kind="human", name="")]
    written = b"".join(FORMATS.get(format).write([record]))
    assert detect(io.BytesIO(written), "file.jsonl") == format


@pytest.mark.slow
def test_a_short_first_record_needs_only_the_first_bytes():
    stream = io.BytesIO(lines(*[SHORT] * HEAD_BYTES))
    assert (detect(stream, "file.jsonl"), stream.tell()) == ("plain", HEAD_BYTES)


@pytest.mark.slow
def test_no_more_than_the_longest_record_is_read():
    stream = io.BytesIO(b'{"problem": "' + b"x" * (MOST_BYTES + HEAD_BYTES))
    with pytest.raises(FormatError, match=f"The first row of file.jsonl is longer than {MOST_BYTES // 2**20} MB"):
        detect(stream, "file.jsonl")
    assert stream.tell() <= MOST_BYTES + HEAD_BYTES


@pytest.mark.slow
def test_a_first_row_that_is_too_long_is_named_by_its_length():
    """Also if further rows follow: only a chosen format reads those."""
    content = json.dumps({"question": "x" * MOST_BYTES}).encode() + b"\n" + lines(SHORT, SHORT)
    with pytest.raises(FormatError, match=r"The first row of file\.jsonl is longer than") as raised:
        detect(io.BytesIO(content), "file.jsonl")
    assert raised.value.code == "unknown_format"
    assert [type(item).__name__ for _, item in read(io.BytesIO(content))] == ["Rejection", "Record", "Record"]


@pytest.mark.parametrize("content", [b"", b" \n", b"\xef\xbb\xbf\n", b"[]", b"[\n]\n"])
def test_a_file_without_a_record_is_called_empty(content: bytes):
    with pytest.raises(FormatError, match=r"file\.json is empty\."):
        detect(io.BytesIO(content), "file.json")


def test_a_file_of_brackets_is_not_called_empty():
    with pytest.raises(FormatError, match=r"Stepmark cannot read file\.json\."):
        detect(io.BytesIO(b"[" * 5000), "file.json")


@pytest.mark.parametrize("text", ["Problem\n\nÄpfel\n", "problem,solution\nGröße,Äpfel\n", '{"problem": "Größe"}\n'])
def test_a_file_in_another_encoding_is_told_so(text: str):
    with pytest.raises(FormatError, match=r"file\.\w+ is not UTF-8 text\. Save it in UTF-8\."):
        detect(io.BytesIO(text.encode("latin-1")), "file.txt")
