"""`python -m prm evaluate`: as little as a model and a file; what it prints and writes, and what it refuses."""

import json
from pathlib import Path

import pytest

from prm.__main__ import main
from prm.commands import common
from prm.config import TrainConfig
from prm.evaluation.evaluation import read_evaluations
from prm.scores import TraceScore, write_scores
from prm.threshold import Threshold
from prm.traces import Trace, write_traces
from prm.training import train
from tests.unit.prm.evaluation.hand_made import HAND_MADE
from tests.unit.prm.small_world import make_traces


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    traces, scores = tmp_path / "traces.jsonl", tmp_path / "scores.jsonl"
    write_traces(traces, [trace for trace, _ in HAND_MADE])
    write_scores(scores, [score for _, score in HAND_MADE])
    return traces, scores


def evaluate(*options: object) -> int:
    return main(["evaluate", "--bootstrap", "10", *map(str, options)])


def test_a_model_and_a_file_are_enough(tmp_path: Path, backbone_folders: dict[str, Path], capsys) -> None:
    data = tmp_path / "data.jsonl"
    write_traces(data, make_traces(6, seed=3))
    assert evaluate("--model", f"zero:{backbone_folders['llama']}", "--data", data) == 0
    said = capsys.readouterr().out
    assert "| all | 6 |" in said
    assert "below 0.500. That was fitted on: nothing" in said
    assert [path.name for path in tmp_path.iterdir()] == ["data.jsonl"]


def test_progress_is_shown_while_a_model_scores(files, capsys, monkeypatch) -> None:
    monkeypatch.setattr(common, "PROGRESS_SECONDS", -1)
    assert evaluate("--model", "zero:tiny", "--data", files[0]) == 0
    assert capsys.readouterr().err.startswith("6 solutions, ")


def test_a_model_is_not_measured_on_what_it_was_trained_on(tmp_path: Path, backbone_folders, capsys) -> None:
    data, model = tmp_path / "data.jsonl", tmp_path / "model"
    write_traces(data, make_traces(12, seed=3))
    config = TrainConfig(base=str(backbone_folders["llama"]), epochs=1, heads=2, hidden=4)
    train(data=data, out=model, config=config, report=lambda progress: None)
    assert evaluate("--model", model, "--data", data) == 2
    assert "was trained on this data" in capsys.readouterr().err


def test_scores_need_no_model_and_the_results_are_written(files, tmp_path: Path, capsys) -> None:
    traces, scores = files
    out = tmp_path / "out.json"
    assert evaluate("--scores", scores, "--data", traces, "--json", out) == 0
    (found,) = read_evaluations(out)
    assert (found.model, found.data, found.threshold.value) == ("scores", "traces", 0.5)
    assert found.steps.overall.error_accuracy.value == 0.25
    assert found.prmbench is found.best_of_n is None
    assert "ProcessBench F1" in capsys.readouterr().out
    assert evaluate("--scores", scores, "--data", traces, "--json", out, "--threshold", 0.65) == 0
    assert read_evaluations(out)[0].steps.threshold == Threshold(0.65)


def other_file(path: Path, problem: str) -> Path:
    traces = [Trace(f"new-{t.id}", problem + t.problem, t.steps, first_error=t.first_error) for t, _ in HAND_MADE]
    write_traces(path, traces)
    return path


def test_the_threshold_comes_from_other_labels_and_never_from_the_same(files, tmp_path: Path, capsys) -> None:
    traces, _ = files
    scores = tmp_path / "both.jsonl"
    renamed = [TraceScore(f"new-{s.id}", s.heads, s.mean, s.spread, None) for _, s in HAND_MADE]
    write_scores(scores, [score for _, score in HAND_MADE] + renamed)
    other, out = other_file(tmp_path / "other.jsonl", "other "), tmp_path / "out.json"
    assert evaluate("--scores", scores, "--data", traces, "--threshold-from", other, "--json", out) == 0
    (found,) = read_evaluations(out)
    assert found.fitted_on == "other.jsonl (traces)"
    assert 0.2 < found.threshold.at(3) <= 0.3
    assert found.steps.overall.processbench_f1.value == pytest.approx(2 * 0.5 * 1 / 1.5)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(traces.read_bytes())
    assert evaluate("--scores", scores, "--data", traces, "--threshold-from", copy) == 2
    assert "cannot be fitted on the data that it is measured on" in capsys.readouterr().err
    shared = other_file(tmp_path / "shared.jsonl", "")
    assert evaluate("--scores", scores, "--data", traces, "--threshold-from", shared) == 2
    assert "6 problems are also in the data to measure on" in capsys.readouterr().err


def test_published_scores_of_a_pool_are_ranked_model_by_model(tmp_path: Path, capsys) -> None:
    pool, out = tmp_path / "pool.jsonl", tmp_path / "out.json"
    rows = [
        {"problem_id": "q", "candidate_index": i, "problem": "p", "steps": [f"#### {i}"], "is_correct": i == 1,
         "prm_step_scores": {"good": [0.1 + 0.8 * (i == 1)], "bad": [0.9 - 0.8 * (i == 1)]}}
        for i in range(2)
    ]  # fmt: skip
    pool.write_text("\n".join(map(json.dumps, rows)))
    assert evaluate("--scores", pool, "--data", pool, "--json", out) == 0
    assert {e.model: e.best_of_n.points[-1].selected["min"].value for e in read_evaluations(out)} == {
        "good": 1,
        "bad": 0,
    }
    assert "| N | random | majority | oracle |" in capsys.readouterr().out


def test_a_file_without_labels_measures_nothing(tmp_path: Path, capsys) -> None:
    data, out = tmp_path / "data.jsonl", tmp_path / "out.json"
    data.write_text('{"id": "a", "problem": "1 + 1?", "steps": ["1 + 1 = 2"]}\n')
    assert evaluate("--model", "zero:tiny", "--data", data, "--json", out) == 2
    assert capsys.readouterr().err.startswith("data.jsonl: no solution has a known first error.")
    assert not out.exists()


def test_refusals_are_one_line(files, tmp_path: Path, capsys) -> None:
    traces, scores = files
    assert evaluate("--scores", traces, "--data", traces) == 2
    assert capsys.readouterr().err == f"{traces} has no scores: its format is traces\n"
    assert evaluate("--scores", scores, "--data", tmp_path / "none") == 2
    assert capsys.readouterr().err.endswith("none: no such file\n")
    with pytest.raises(SystemExit):
        evaluate("--data", traces)
