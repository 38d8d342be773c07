"""The library reads, trains on, scores and measures on files of every format that the platform imports."""

import gzip
import json
import shutil
import sys
from pathlib import Path

import msgspec
import pytest

from prm.__main__ import main
from prm.config import TrainConfig
from prm.errors import DataError
from prm.formats.benchmark import read_published
from prm.formats.detection import detect
from prm.formats.hub import fetch_dataset
from prm.formats.prm800k import prm800k
from prm.formats.registry import FORMATS
from prm.formats.trace_files import open_traces, read_traces
from prm.labels import first_error, step_labels
from prm.traces import Alternative, Step, StepLabel, Trace, write_traces
from prm.training.dataset import read_training_data
from tests.plugins.extensions import InstallExtension
from tests.real_data import real_data
from tests.unit.prm.formats.hostile import EXAMPLES

BENCHMARKS = {"processbench", "prmbench", "best_of_n"}


def example(name: str) -> dict:
    return json.loads(EXAMPLES[name])


@pytest.mark.parametrize("name", sorted(EXAMPLES.keys() - {"labels"}))
def test_every_format_is_read_as_traces(name: str, tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(example(name)) + "\n")
    [(_, record)] = FORMATS.get(name).read(path.open("rb"))
    [trace] = read_traces(path)
    assert open_traces(path).label == FORMATS.get(name).label
    assert (trace.problem, trace.split) == (record.problem, "holdout" if name in BENCHMARKS else "pool")
    assert trace.id.endswith(record.external_id or "data-1")
    assert [source.kind for source in trace.sources] == [label.source_kind for label in record.annotations]
    assert {first_error(trace)} == ({label.first_error for label in record.annotations} or {None})
    assert (trace.labels is None) == (not record.annotations)


@pytest.mark.parametrize("line", [{"problem": "p"}, {"problem": "p", "steps": []}])
def test_a_problem_without_a_solution_is_no_trace(tmp_path: Path, line: dict) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"problem": "p", "steps": ["a"]}) + "\n" + json.dumps(line) + "\n")
    with pytest.raises(DataError, match="line 2, field `steps`: Expected at least one step in `steps`, or"):
        list(read_traces(path))


def test_objects_on_several_lines_are_told_apart_from_broken_ones(tmp_path: Path) -> None:
    path = tmp_path / "pretty.json"
    path.write_text(json.dumps({"problem": "1 + 1?", "steps": ["2"]}, indent=2) * 2)
    with pytest.raises(DataError, match=r"pretty\.json has JSON objects on several lines. Write each on one line"):
        list(read_traces(path))


def test_labels_without_solutions_are_no_traces(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(example("labels")) + "\n")
    with pytest.raises(DataError, match="labels without their solutions"):
        list(read_traces(path))


def test_a_file_of_white_space_has_no_traces(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(" \n\n  \n")
    assert list(read_traces(path)) == []


@pytest.mark.parametrize(
    ("scores", "fault"),
    [([[]], "a list of length >= 1"), ([[0.1], [0.2]], "`code` has 1, `pred` 1, `score` 1, `pred_score` 2")],
)
def test_published_scores_that_do_not_match_the_responses_are_refused(tmp_path: Path, scores: list, fault: str) -> None:
    path = tmp_path / "samples.jsonl"
    line = {"idx": 0, "question": "q", "code": ["a"], "pred": ["1"], "score": [True], "pred_score": scores}
    path.write_text(json.dumps(line) + "\n")
    with pytest.raises(DataError, match=rf"samples\.jsonl, line 1: .*{fault}"):
        read_published(path)


def test_prm800k_labels_the_path_and_what_was_rated_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    line = example("prm800k")
    line["question"]["pre_generated_steps"] = ["a", "b"]
    line["label"] = {
        "steps": [
            {"completions": [{"text": "a", "rating": 1, "flagged": None}], "human_completion": None,
             "chosen_completion": 0},
            {"completions": [{"text": "b", "rating": -1, "flagged": None}, {"text": "c", "rating": 0, "flagged": None}],
             "human_completion": None, "chosen_completion": None},
        ],
        "finish_reason": "found_error", "total_time": 1,
    }  # fmt: skip
    path.write_text(json.dumps(line))
    [trace] = read_traces(path)
    assert [step.text for step in trace.steps] == ["a", "b"]
    assert [label and label.rating for label in step_labels(trace)] == [1, -1]
    assert trace.alternatives == [Alternative(1, Step("c"), StepLabel(good=0, neutral=1, bad=0))]
    assert first_error(trace) == 1


def test_labels_of_one_solution_are_shares_and_disagreement_leaves_the_first_error_open(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('problem,steps,human_label,judge_label\np,"[""a"", ""b""]","[1, 1]","[1, -1]"\n')
    [trace] = read_traces(path)
    assert [(label.good, label.bad) for label in trace.labels] == [(1, 0), (0.5, 0.5)]
    assert trace.first_error is None
    assert {source.kind for source in trace.sources} == {"human", "model_judge"}


def test_a_solution_without_steps_is_split_at_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"problem": "p", "solution": "a\n\nb"}))
    [trace] = read_traces(path)
    assert [step.text for step in trace.steps] == ["a", "b"]


def test_our_own_traces_are_read_exactly(tmp_path: Path) -> None:
    label = StepLabel(good=0.5, neutral=0.25, bad=0.25, weight=0.5)
    traces = [
        Trace("a", "p", [Step("x", "tool_call"), Step("y")], labels=[label, None], meta={"label": 1},
              alternatives=[Alternative(1, Step("z"), label)]),
        Trace("b", "q", [Step("x")], first_error=0, split="calibration"),
    ]  # fmt: skip
    path, packed = tmp_path / "t.jsonl", tmp_path / "t.jsonl.gz"
    write_traces(path, traces)
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(read_traces(path)) == list(read_traces(packed)) == traces
    path.write_bytes(msgspec.json.encode(traces))
    assert list(read_traces(path)) == traces
    path.write_bytes(b"")
    assert list(read_traces(path)) == []


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ({"id": "a", "problem": "p", "steps": ["x", "y"]}, FORMATS.get("plain").label),
        ({"id": 7, "problem": "p", "steps": [["x", "z"], {"text": "y"}], "answer": "4"}, FORMATS.get("plain").label),
        ({"id": "a", "problem": "p", "steps": [{"text": "x"}, {"text": "y"}]}, "traces"),
        ({"id": "a", "problem": "p", "steps": ["x", {"text": "y"}], "first_error": 1}, "traces"),
        ({"id": "a", "problem": "p", "steps": ["x", "y"], "judge_first_error": 1}, FORMATS.get("table").label),
    ],
)
def test_a_solution_with_an_id_may_have_texts_as_steps(tmp_path: Path, line: dict, label: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "id": "b"}) + "\n")
    assert open_traces(path).label == label
    [trace, _] = read_traces(path)
    assert (trace.id, trace.steps) == (str(line["id"]), [Step("x"), Step("y")])
    assert trace.reference_answer == line.get("answer")
    assert first_error(trace) == (1 if len(line) > 3 and "answer" not in line else None)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"steps": [{"text": "x", "kind": "thought"}]}, r"one of reasoning, .*answer - at `\$.steps\[0\].kind`"),
        ({"multiplicity": 0}, r"Expected a whole number >= 1 - at `\$.multiplicity`"),
        ({"sources": [{"kind": "expert"}]}, r"'expert' - at `\$.sources\[0\].kind`"),
    ],
)
def test_a_trace_with_an_unknown_word_or_count_is_refused(tmp_path: Path, change: dict, fault: str) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps({"id": "a", "problem": "p", "steps": [{"text": "x"}], "first_error": -1} | change))
    with pytest.raises(DataError, match=rf"data.jsonl, line 1: .*{fault}"):
        list(read_traces(path))


def test_a_label_that_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="probabilities"):
        StepLabel(good=float("nan"), neutral=0, bad=1)


@pytest.mark.parametrize("cut", [40, -20])
def test_a_compressed_file_that_is_damaged_is_named(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "data.jsonl.gz"
    lines = b"".join(msgspec.json.encode(Trace(str(k), f"p{k**3}", [Step("x")])) + b"\n" for k in range(100))
    packed = gzip.compress(lines)
    path.write_bytes(packed[:cut] if cut < 0 else packed[:cut] + bytes(9) + packed[cut + 9 :])
    with pytest.raises(DataError, match="compressed data is damaged or cut short"):
        list(read_traces(path))


def test_a_table_of_many_columns_names_the_first_ones(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text(",".join(f"c{k}" for k in range(500)) + "\n" + ",".join("0" * 500) + "\n")
    with pytest.raises(DataError, match=r"The columns are: c0, c1, .*c29 and 470 more\. Name the columns"):
        list(read_traces(path))


def test_a_line_that_cannot_be_taken_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.jsonl"
    path.write_text(json.dumps(example("trl")) + "\n" + json.dumps(example("trl") | {"labels": []}) + "\n")
    with pytest.raises(DataError, match=r"data.jsonl, line 2, field `labels`: Expected a label for each of"):
        list(read_traces(path))


def test_the_real_prm800k_has_the_first_errors_of_its_labels() -> None:
    path = real_data("prm800k/prm800k_real_records.jsonl")
    traces = list(read_traces(path))
    with path.open("rb") as stream:
        labels = [record.annotations[0] for _, record in prm800k.read(stream)]
    assert [trace.sources[0].first_error for trace in traces] == [label.first_error for label in labels]
    for trace, label in zip(traces, labels, strict=True):
        assert label.first_error is None or first_error(trace) == label.first_error
    assert len({trace.id for trace in traces}) == 9
    assert any(trace.alternatives for trace in traces)


def test_the_real_prm800k_trains_scores_and_measures(
    tmp_path: Path, backbone_folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    data, config = tmp_path / "prm800k.jsonl", tmp_path / "config.json"
    shutil.copy(real_data("prm800k/prm800k_real_records.jsonl"), data)
    choices = TrainConfig(base=str(backbone_folders["llama"]), epochs=1, heads=2, hidden=8)
    config.write_bytes(msgspec.json.encode(choices))
    model, scores = tmp_path / "model", tmp_path / "scores.jsonl"
    assert main(["train", "--data", str(data), "--config", str(config), "--out", str(model)]) == 0
    assert main(["score", "--model", str(model), "--data", str(data), "--out", str(scores)]) == 0
    ids = [json.loads(line)["id"] for line in scores.read_text().splitlines()]
    assert ids == [trace.id for trace in read_traces(data)]
    capsys.readouterr()
    assert main(["evaluate", "--scores", str(scores), "--data", str(data), "--bootstrap", "10"]) == 0
    assert "PRM800K" in capsys.readouterr().out


def test_training_on_a_benchmark_leaves_a_fifth_of_its_problems_which_evaluate_measures(
    tmp_path: Path, backbone_folders: dict[str, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    path, config, model = tmp_path / "data.json", tmp_path / "config.json", tmp_path / "model"
    lines = [
        {"id": f"sums-{k}", "problem": f"What is {k % 25} + 1?", "steps": ["Add.", "So."], "label": k % 2 - 1}
        for k in range(50)
    ]
    path.write_text(json.dumps(lines))
    choices = TrainConfig(base=str(backbone_folders["llama"]), epochs=1, heads=2, hidden=8)
    config.write_bytes(msgspec.json.encode(choices))

    parts = read_training_data(path, choices)
    taught = {trace.problem for trace in [*parts.fit, *parts.held]}
    left = {line["problem"] for line in lines} - taught
    assert 2 <= len(left) <= 8
    assert parts.to_measure == 2 * len(left), "both solutions of a problem are on one side"
    assert {trace.split for trace in [*parts.fit, *parts.held]} == {"pool"}

    assert main(["train", "--data", str(path), "--config", str(config), "--out", str(model)]) == 0
    assert f"{parts.to_measure} solutions, of a fifth of its problems, are left" in capsys.readouterr().out
    measured = tmp_path / "measured.json"
    command = ["evaluate", "--model", str(model), "--data", str(path), "--bootstrap", "0", "--json", str(measured)]
    assert main(command) == 0
    assert "problems that training left out" in capsys.readouterr().out
    assert json.loads(measured.read_text())[0]["steps"]["overall"]["n_solutions"] == parts.to_measure

    other = tmp_path / "other.json"
    other.write_text(json.dumps([line | {"id": f"other-{line['id']}"} for line in lines]))
    assert main([*command, "--data", str(path), str(other)]) == 0
    assert json.loads(measured.read_text())[0]["steps"]["overall"]["n_solutions"] == parts.to_measure + len(lines)
    audit = ["audit", "--model", str(model), "--data", str(path), "--out", str(tmp_path / "audit"), "--bootstrap", "20"]
    assert main([*audit, "--only", "position"]) == 0
    report = json.loads((tmp_path / "audit" / "report.json").read_bytes())
    assert (report["n_solutions"], report["data"]) == (
        parts.to_measure,
        "data.json, problems that training left out",
    )
    assert main(["explain", "--model", str(model), "--data", str(other), "--training", str(path)]) == 0


def test_a_mapping_names_the_columns_of_a_table_and_an_error_names_the_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, mapping, out = tmp_path / "runs.csv", tmp_path / "mapping.json", tmp_path / "traces.jsonl"
    path.write_text("task,first,second,wrong\n1 + 1?,one,two,2\n")
    assert main(["convert", "--data", str(path), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("runs.csv: ", "The columns are: task, first", "--mapping"))

    mapping.write_text('{"problem": "task", "steps": {"columns": ["first", "second"], "form": "rows"}}')
    assert main(["convert", "--data", str(path), "--mapping", str(mapping), "--out", str(out)]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in ("mapping.json: ", "steps.form"))

    named = {"problem": "task", "steps": {"columns": ["first", "second"], "form": "columns"}}
    mapping.write_text(json.dumps(named | {"labels": [{"columns": ["wrong"], "base": 1}]}))
    assert main(["convert", "--data", str(path), "--mapping", str(mapping), "--out", str(out)]) == 0
    [trace] = read_traces(out)
    assert (trace.problem, [step.text for step in trace.steps], trace.first_error) == ("1 + 1?", ["one", "two"], 1)

    out.unlink()
    for absent in (
        {"problem": "question"},
        {"steps": {"columns": ["third"], "form": "columns"}},
        {"labels": [{"columns": ["rwong"]}]},
        {"domain": "meta.subject"},
    ):
        mapping.write_text(json.dumps(named | absent))
        assert main(["convert", "--data", str(path), "--mapping", str(mapping), "--out", str(out)]) == 2
        said = capsys.readouterr().err
        assert all(word in said for word in ("runs.csv: There is no column '", "The columns are: task, first"))
        assert not out.exists()


def test_a_data_set_of_the_hub_is_read_through_datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("datasets")
    monkeypatch.setattr(datasets.config, "HF_CACHE_HOME", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "lab" / "steps"  # `datasets` looks for a folder of this name before it asks the hub
    folder.mkdir(parents=True)
    for split in ("train", "test"):
        (folder / f"{split}.jsonl").write_text(json.dumps(example("trl") | {"prompt": split}) + "\n")
    path = fetch_dataset("lab/steps:test")
    assert (open_traces(path).label, path.stem) == ("TRL", "lab--steps-test")
    assert [trace.problem for trace in read_traces(path)] == ["test"]
    with pytest.raises(DataError, match=r"several splits: add one of them, for example lab/steps:train\."):
        fetch_dataset("lab/steps")
    with pytest.raises(DataError, match=r"data set lab/nothing of the hub: \w"):
        fetch_dataset("lab/nothing")
    with pytest.raises(DataError, match="is not a data set of the hub"):
        fetch_dataset("https://a/b")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(DataError, match="pip install datasets"):
        fetch_dataset("lab/steps")


def test_another_package_adds_a_format_by_one_file(tmp_path: Path, install_extension: InstallExtension) -> None:
    install_extension(
        "chalkboard",
        """
        from prm.formats.record import Record, sampled
        from prm.formats.registry import file_format

        @file_format("chalkboard", label="Chalkboard", keys=("task", "chalk"))
        def chalkboard(value):
            return Record(problem=value["task"], positions=sampled(value["chalk"]))

        @chalkboard.writes()
        def lines(record, neutral):
            return [{"task": record.problem, "chalk": [at[0].text for at in record.positions]}]
        """,
        FORMATS,
    )
    path = tmp_path / "data.jsonl"
    path.write_text('{"task": "p", "chalk": ["a", "b"]}\n')
    assert detect(path.open("rb"), path.name) == "chalkboard"
    [trace] = read_traces(path)
    assert [step.text for step in trace.steps] == ["a", "b"]
    [(_, record)] = FORMATS.get("chalkboard").read(path.open("rb"))
    assert b"".join(FORMATS.get("chalkboard").write([record])) == b'{"task":"p","chalk":["a","b"]}\n'
