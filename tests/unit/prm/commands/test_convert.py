"""`convert` writes any format from any other, and names what is lost."""

import json
from pathlib import Path

import pytest

from prm.__main__ import main
from prm.exporters import EXPORTERS
from prm.formats.trace_files import open_traces, read_traces
from prm.labels import first_error
from prm.traces import LabelSource, Step, StepLabel, Trace, write_traces

GOOD, BAD = StepLabel(good=1, neutral=0, bad=0), StepLabel(good=0.1, neutral=0.2, bad=0.7)
TRACES = [
    Trace("a", "1 + 1?", [Step("Add."), Step("3")], labels=[GOOD, BAD], sources=[LabelSource("human", "x")]),
    Trace("b", "2 + 2?", [Step("Add."), Step("4")], first_error=-1, sources=[LabelSource("model_judge", "j")]),
    Trace("c", "3 + 3?", [Step("Add.")]),
    Trace("d", "4 + 4?", [Step("8")], labels=[GOOD], split="holdout"),
]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_traces(tmp_path / "data.jsonl", TRACES)
    return tmp_path / "data.jsonl"


def test_traces_are_written_in_every_format_that_holds_labels(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = {}
    for target in EXPORTERS:
        out = tmp_path / target
        code = main(["convert", "--data", str(data), "--to", target, "--out", str(out)])
        written[target] = int(capsys.readouterr().out.split()[0]) if code == 0 else 0
        assert out.exists() == (code == 0)
    assert {target for target, count in written.items() if not count} == {
        *("messages", "tau_bench", "who_and_when", "atif", "swe_agent"),  # agent runs
        *("preference", "sft"),  # need alternatives
    }
    assert {written[target] for target in ("processbench", "trl", "mr_ben", "math_shepherd", "openrlhf")} == {2}
    assert {written[target] for target in ("records", "csv", "parquet", "huggingface")} == {4}
    assert written["prm800k"] == 3, "it names the split, and has no unlabelled solutions"


def test_what_a_format_cannot_name_is_left_out_or_reported(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    assert main(["convert", "--data", str(data), "--to", "processbench", "--out", str(out)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"2 solutions in {out}",
        "1 left out: unlabelled",
        "1 left out: in the split holdout, which --splits does not name",
        "labels of several kinds, which the format does not name: human, model_judge",
    ]
    assert [(line["problem"], line["label"]) for line in json.loads(out.read_text())] == [("1 + 1?", 1), ("2 + 2?", -1)]
    assert open_traces(out).label == "ProcessBench"


def test_labels_that_a_format_cannot_express_are_counted(
    data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.jsonl"
    arguments = ["--data", str(data), "--out", str(out), "--splits", "pool", "holdout"]
    assert main(["convert", "--to", "plain", *arguments]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"4 solutions in {out}",
        "3 labels left out: the format has none",
    ]
    shown = [{"text": "a", "rating": -1}, {"text": "b", "rating": 1}]
    own = {"text": "c", "rating": None, "source": "human", "flagged": False}
    steps = [
        {"completions": shown, "human_completion": None, "chosen_completion": 1},
        {"completions": None, "human_completion": own, "chosen_completion": None},
    ]
    label = {"steps": steps, "finish_reason": "solution", "total_time": 1}
    data.write_text(json.dumps({"labeler": "l", "question": {"problem": "p"}, "label": label}))
    assert main(["convert", "--to", "csv", *arguments]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"1 solution in {out}",
        "1 ratings of alternatives left out",
        "1 steps that annotators wrote, not marked as theirs",
    ]


def test_final_answers_of_traces_stay_in_a_pool(data: Path, tmp_path: Path) -> None:
    write_traces(data, [Trace("a", "p", [Step("x")], final_answer_correct=True, meta={"final_answer": "4"})])
    out = tmp_path / "out.jsonl"
    assert main(["convert", "--data", str(data), "--to", "best_of_n", "--out", str(out)]) == 0
    assert json.loads(out.read_text())["final_answer"] == "4"


def test_records_keep_split_kind_and_source(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert main(["convert", "--data", str(data), "--to", "records", "--out", str(out)]) == 0
    again = list(read_traces(out))
    assert [(trace.id, trace.split, first_error(trace)) for trace in again] == [
        ("a", "pool", 1),
        ("b", "pool", -1),
        ("c", "pool", None),
        ("d", "holdout", -1),
    ]
    assert [source.kind for source in again[0].sources + again[1].sources] == ["human", "model_judge"]
