"""The probes from a shell: sample, follow best-of-N, falsify steps; tables, JSON and pictures."""

import json
from pathlib import Path

import pytest

from prm.__main__ import main
from prm.formats.trace_files import read_traces


@pytest.fixture(scope="module")
def sampled(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("sampled") / "pools.jsonl"
    assert main(["probe", "sample", "--policy", "world", "--problems", "3", "--samples", "4", "--out", str(path)]) == 0
    return path


def test_the_world_fills_pools_of_the_size_asked_for(sampled):
    assert len(list(read_traces(sampled))) == 12


def test_an_unknown_domain_is_refused(tmp_path, capsys):
    arguments = ["probe", "sample", "--policy", "world", "--domains", "law", "--out", str(tmp_path / "x")]
    assert main(arguments) == 2
    assert "the sandbox has no domain named law" in capsys.readouterr().err


@pytest.mark.slow
def test_best_of_n_prints_a_table_and_writes_figures_and_a_picture(sampled, tmp_path, capsys):
    out, picture = tmp_path / "b.json", tmp_path / "new" / "b.svg"
    arguments = ["probe", "best-of-n", "--model", "zero:tiny", "--data", str(sampled), "--bootstrap", "20"]
    assert main([*arguments, "--json", str(out), "--picture", str(picture)]) == 0
    assert "| product | 4 |" in capsys.readouterr().out
    assert json.loads(out.read_text())["sizes"] == [1, 2, 4]
    assert picture.read_text().startswith("<?xml")


@pytest.mark.parametrize(
    "probe", ["best-of-n --model zero:tiny", "faithfulness --policy tiny", "cost --model zero:tiny"]
)
def test_a_repeated_id_is_refused(sampled, tmp_path, capsys, probe):
    twice = tmp_path / "twice.jsonl"
    twice.write_text(sampled.read_text() * 2)
    assert main(["probe", *probe.split(), "--data", str(twice)]) == 2
    assert "twice.jsonl, line 13: the solution 'holdout-1-0-0' is already in the data" in capsys.readouterr().err


@pytest.mark.slow
def test_faithfulness_samples_continuations_and_reads_the_verifier_beside_them(sampled, tmp_path, capsys):
    solutions = tmp_path / "two.jsonl"
    solutions.write_text("".join(line + "\n" for line in sampled.read_text().splitlines()[:2]))
    arguments = ["probe", "faithfulness", "--policy", "tiny", "--data", str(solutions), "--model", "zero:tiny"]
    arguments += ["--continuations", "2", "--bootstrap", "20", "--json", str(tmp_path / "f.json")]
    assert main([*arguments, "--picture", str(tmp_path / "f.png")]) == 0
    assert "moved control" in capsys.readouterr().out
    report = json.loads((tmp_path / "f.json").read_text())
    assert report["n_solutions"] == 2
    assert report["overall"]["effect"]["value"] is not None
    assert (tmp_path / "f.png").stat().st_size > 1000


@pytest.mark.slow
@pytest.mark.parametrize("steps", [["4 + 4 = 8", "So it is 8"], ["Add them", "The answer is 8."]])
def test_faithfulness_of_solutions_without_an_answer_or_a_number_is_an_error(tmp_path, capsys, steps):
    solutions = tmp_path / "lacking.jsonl"
    solutions.write_text(json.dumps({"problem": "Reach 8", "steps": steps}) + "\n")
    out = tmp_path / "f.json"
    assert main(["probe", "faithfulness", "--policy", "tiny", "--data", str(solutions), "--json", str(out)]) == 2
    assert "lacking.jsonl: no solution states an answer in its last step" in capsys.readouterr().err
    assert not out.exists()
