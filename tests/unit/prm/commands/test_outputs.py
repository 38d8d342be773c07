"""What commands write: never over an input, never over a model, whole or not at all; strings do for paths and steps."""

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from prm.__main__ import main
from prm.errors import DataError, ModelFileError
from prm.files import write_records
from prm.formats.trace_files import read_traces
from prm.portable.importing import adopt
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces


@pytest.fixture
def traces(tmp_path: Path) -> Path:
    write_traces(tmp_path / "traces.jsonl", [Trace("a", "1 + 1?", [Step("1 + 1 = 2")])])
    return tmp_path / "traces.jsonl"


@pytest.mark.parametrize("name", ["traces.jsonl", "link.jsonl"])
def test_scores_never_replace_the_data(traces: Path, name: str, capsys) -> None:
    (traces.parent / "link.jsonl").symlink_to(traces)
    before = traces.read_bytes()
    out = traces.parent / name
    assert main(["score", "--model", "zero:tiny", "--data", str(traces), "--out", str(out)]) == 2
    assert capsys.readouterr().err == f"{out} is an input file: write the result to another file\n"
    assert traces.read_bytes() == before


@pytest.mark.parametrize(
    "line",
    [
        "score --model zero:tiny --data {data} --mapping {other} --out {other}",
        "evaluate --model zero:tiny --data {data} --mapping {other} --json {other}",
        "search best-of-n --endpoint http://127.0.0.1:9/v1 --model any --verifier zero:tiny --problems {data} "
        "--api-key-file {other} --out {other}",
    ],
)
def test_results_never_replace_another_input(traces: Path, line: str, capsys) -> None:
    other = traces.parent / "other.json"
    other.write_text('{"problem": "problem"}')
    assert main(line.format(data=traces, other=other).split()) == 2
    assert capsys.readouterr().err == f"{other} is an input file: write the result to another file\n"
    assert other.read_text() == '{"problem": "problem"}'


def test_an_error_leaves_no_partial_file_and_the_old_one_as_it_was(tmp_path: Path) -> None:
    def records():
        yield {"a": 1}
        raise DataError("no more")

    (tmp_path / "out.jsonl").write_text("old\n")
    with pytest.raises(DataError):
        write_records(tmp_path / "out.jsonl", records())
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"out.jsonl": "old\n"}


TERMINATED = """
import os, signal, sys
from prm.__main__ import main
from prm.commands import convert

def write_traces(out, traces):
    return write(out, (os.kill(os.getpid(), signal.SIGTERM) or one for one in traces))

write, convert.write_traces = convert.write_traces, write_traces
main(["convert", "--data", sys.argv[1], "--out", sys.argv[2]])
"""


def test_a_terminated_command_leaves_no_partial_file_and_ends_by_the_signal(traces: Path) -> None:
    out = traces.parent / "out.jsonl"
    out.write_text("old\n")
    root = Path(__file__).parents[4]
    ended = subprocess.run([sys.executable, "-c", TERMINATED, traces, out], cwd=root, capture_output=True)
    assert (ended.returncode, ended.stderr) == (-signal.SIGTERM, b"")
    assert out.read_text() == "old\n"
    assert not list(traces.parent.glob("*.partial"))


def test_adopting_never_replaces_a_folder_that_holds_something(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.safetensors").write_text("mine")
    with pytest.raises(ModelFileError, match="not an empty folder"):
        adopt(tmp_path / "source", tmp_path / "out")
    assert (tmp_path / "out" / "model.safetensors").read_text() == "mine"


def test_a_path_may_be_a_string(traces: Path) -> None:
    assert [trace.id for trace in read_traces(str(traces))] == ["a"]
    with pytest.raises(ModelFileError, match="is not a model folder"):
        Scorer.load(str(traces.parent))


def test_a_step_may_be_its_text() -> None:
    assert Trace("a", "p", ["one", Step("two")]).steps == [Step("one"), Step("two")]
    with pytest.raises(ValueError, match="steps must be a list"):
        Trace("a", "p", "one")


def test_a_text_that_is_no_unicode_is_named() -> None:
    with pytest.raises(DataError, match="solution 'a': step 1 holds half of a surrogate pair"):
        list(Scorer.for_base("tiny", device="cpu").score([Trace("a", "p", ["\ud800"])]))
