"""`reproduce` measures across sets, replays on them, and stores what it prints."""

from pathlib import Path

import pytest

from prm.__main__ import main
from prm.commands import common
from prm.files import read_json
from prm.reproducing.running import Report
from prm.traces import write_traces
from tests.unit.prm.small_world import make_traces

pytestmark = pytest.mark.torch


def test_it_measures_each_set_and_replays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, count in (("sums", 160), ("few", 10)):
        write_traces(tmp_path / f"{name}.jsonl", make_traces(count, len(name), split="holdout", prefix=name))
    data = [str(tmp_path / f"{name}.jsonl") for name in ("sums", "few")]
    options = ["--seeds", "1", "--epochs", "1", "--bootstrap", "20", "--replay", "sums", "--functions", "random"]
    assert main(["reproduce", "--data", *data, "--out", str(tmp_path / "out"), *options]) == 0
    report = read_json(tmp_path / "out" / "report.json", Report)
    judges = ("position alone", "length alone", "surprisal, tiny", "heads, tiny")
    assert {(line.source, line.target) for line in report.lines} == {("sums", "sums"), ("sums", "few")}
    assert [line.judge for line in report.lines[:4]] == list(judges)
    assert all(line.auroc.low is not None for line in report.lines if line.target != "few")
    printed = capsys.readouterr().out
    assert (tmp_path / "out" / "tables.md").read_text() in printed
    assert "## Replay with tiny" in printed
    assert "random + graded" in printed


def test_one_set_shows_its_progress_and_says_what_a_second_would_add(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(common, "PROGRESS_SECONDS", -1)
    write_traces(tmp_path / "sums.jsonl", make_traces(160, 1, prefix="sums"))
    options = ["--seeds", "1", "--epochs", "1", "--bootstrap", "0", "--out", str(tmp_path / "out")]
    assert main(["reproduce", "--data", str(tmp_path / "sums.jsonl"), *options]) == 0
    said = capsys.readouterr()
    assert "tiny: reading sums: 160 of 160 solutions" in said.err
    for title in ("ProcessBench F1 by threshold rule", "Abstention"):
        assert f"### {title}\n\nNothing to compare: this needs a second set." in said.out


def test_sets_that_teach_nothing_are_refused_with_their_counts(tmp_path: Path, capsys) -> None:
    write_traces(tmp_path / "few.jsonl", make_traces(10, 1))
    data = str(tmp_path / "few.jsonl")
    assert main(["reproduce", "--data", data, "--out", str(tmp_path / "out")]) == 2
    error = capsys.readouterr().err
    assert "No set has 20 right and 20 wrong solutions of 20 source groups to learn from: few has" in error
    assert main(["reproduce", "--data", data, data, "--out", str(tmp_path / "out")]) == 2
    assert "Two sets have the name" in capsys.readouterr().err


def test_a_set_of_too_few_problems_teaches_nothing(tmp_path: Path, capsys) -> None:
    traces = make_traces(120, 1)
    for number, trace in enumerate(traces):
        trace.problem_id = f"p{number % 4}"
    write_traces(tmp_path / "repeated.jsonl", traces)
    data = ["--data", str(tmp_path / "repeated.jsonl"), "--epochs", "1", "--seeds", "1", "--bootstrap", "0"]
    assert main(["reproduce", *data, "--out", str(tmp_path / "out")]) == 2
    assert "of 2 source groups" in capsys.readouterr().err


@pytest.mark.parametrize(("functions", "fault"), [(["rando"], "'rando'"), (["wrong_answers"], "random")])
def test_functions_of_a_replay_are_checked_before_the_work(tmp_path: Path, functions: list, fault: str, capsys) -> None:
    write_traces(tmp_path / "sums.jsonl", make_traces(160, 1))
    command = ["reproduce", "--data", str(tmp_path / "sums.jsonl"), "--out", str(tmp_path / "out"), "--epochs", "1"]
    assert main([*command, "--seeds", "1", "--replay", "sums", "--functions", *functions]) == 2
    said = capsys.readouterr()
    assert fault in said.err
    assert "measured" not in said.out


def test_a_replay_of_an_unknown_set_is_refused_before_the_work(tmp_path: Path, capsys) -> None:
    write_traces(tmp_path / "sums.jsonl", make_traces(10, 1))
    out = ["--out", str(tmp_path / "out"), "--replay", "gsm8k"]
    assert main(["reproduce", "--data", str(tmp_path / "sums.jsonl"), *out]) == 2
    assert "There is no set 'gsm8k'. Choose one of: sums." in capsys.readouterr().err
