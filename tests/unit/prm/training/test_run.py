"""Training: resumable to the bit, cancellable, and clear about data it cannot use."""

from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from prm.__main__ import main
from prm.backbones import load_backbone
from prm.checkpoint import save_state
from prm.config import FEATURES, Progress, TrainConfig
from prm.errors import Cancelled, DataError, ModelFileError, TrainingError
from prm.evaluation import evaluate
from prm.labels import BAD, GOOD
from prm.manifest import WEIGHTS_FILE
from prm.scoring import Scorer
from prm.threshold import UNFITTED
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces


def small(base: Path, **choices) -> TrainConfig:
    return TrainConfig(**{"base": str(base), "epochs": 2, "heads": 3, "hidden": 8, "batch_steps": 32} | choices)


def run(data: Path, out: Path, config: TrainConfig, cancelled=lambda: False):
    reports: list[Progress] = []
    return train(data=data, out=out, config=config, report=reports.append, cancelled=cancelled), reports


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    write_traces(path, make_traces(40, seed=0) + make_traces(30, seed=1, split="calibration", prefix="c"))
    return path


@pytest.mark.parametrize("lane", ["heads", "full", "lora"])
def test_a_resumed_run_equals_an_uninterrupted_one(lane, data: Path, tmp_path: Path, backbone_folders) -> None:
    config = small(backbone_folders["llama"], lane=lane, batch_tokens=700)
    run(data, tmp_path / "straight", config)
    calls = 0

    def stop() -> bool:
        nonlocal calls
        calls += 1
        return calls == stop_at

    stop_at = 10
    with pytest.raises(Cancelled):
        run(data, tmp_path / "broken", config, stop)
    assert (tmp_path / "broken/checkpoint/state.safetensors").exists()
    run(data, tmp_path / "broken", config)
    assert not (tmp_path / "broken/checkpoint").exists()
    for name in ("metrics.jsonl",):
        assert (tmp_path / "broken" / name).read_bytes() == (tmp_path / "straight" / name).read_bytes()
    straight, resumed = (load_file(tmp_path / which / WEIGHTS_FILE) for which in ("straight", "broken"))
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def test_it_learns_and_reports(data: Path, tmp_path: Path, backbone_folders) -> None:
    config = small(backbone_folders["llama"], features=FEATURES, epochs=25, hidden=32)  # a word marks these errors
    manifest, reports = run(data, tmp_path / "out", config)
    assert list(dict.fromkeys(r.stage for r in reports)) == ["tokenise", "cache", "train", "calibrate", "done"]
    assert manifest.fitted_on == "calibration"
    assert manifest.counts.good + manifest.counts.bad == manifest.counts.steps
    fresh = make_traces(80, seed=5)
    report = evaluate(fresh, Scorer.load(tmp_path / "out").score(fresh), threshold=manifest.threshold, bootstrap=20)
    assert report.overall.step_auroc.value > 0.85 > report.overall.index_auroc.value


def test_a_tuned_backbone_comes_back_as_it_was_saved(data: Path, tmp_path: Path, backbone_folders) -> None:
    run(data, tmp_path / "out", small(backbone_folders["qwen2"], lane="full", epochs=1))
    tuned = Scorer.load(tmp_path / "out").backbone.model.state_dict()
    base = load_backbone(str(backbone_folders["qwen2"])).model.state_dict()
    saved = load_file(tmp_path / "out" / WEIGHTS_FILE)
    name = "model.layers.0.self_attn.q_proj.weight"
    assert torch.equal(tuned[name], saved["backbone." + name])
    assert not torch.equal(tuned[name], base[name])


def test_a_checkpoint_of_another_version_starts_the_run_again(data: Path, tmp_path: Path, backbone_folders) -> None:
    save_state(tmp_path / "out/checkpoint/state.safetensors", {"x": torch.zeros(1)}, {"key": "other", "old_field": 1})
    manifest, _ = run(data, tmp_path / "out", small(backbone_folders["llama"]))
    assert manifest.metrics["epochs"] > 0


def test_a_corrupt_checkpoint_is_refused(data: Path, tmp_path: Path, backbone_folders) -> None:
    (tmp_path / "out/checkpoint").mkdir(parents=True)
    (tmp_path / "out/checkpoint/state.safetensors").write_bytes(b"\x80\x04pickle")
    with pytest.raises(ModelFileError, match="corrupt"):
        run(data, tmp_path / "out", small(backbone_folders["llama"]))


def test_a_loss_that_is_not_finite_names_its_batch(data: Path, tmp_path: Path, backbone_folders, monkeypatch) -> None:
    monkeypatch.setattr(
        "prm.training.objective.soft_cross_entropy", lambda *_: torch.tensor(float("nan"), requires_grad=True)
    )
    with pytest.raises(TrainingError, match=r"the loss is nan at epoch 0, batch 0 \(t"):
        run(data, tmp_path / "out", small(backbone_folders["llama"]))


def with_split(traces: list[Trace], split: str) -> list[Trace]:
    return [msgspec.structs.replace(trace, split=split) for trace in traces]


@pytest.mark.parametrize(
    ("traces", "reason"),
    [
        (make_traces(5, seed=0) + make_traces(1, seed=9, split="holdout", prefix="h"), "'h0' is in the holdout"),
        ([Trace("a", "p", [Step("x")], labels=[GOOD])], "no step is labelled bad"),
        ([Trace("a", "p", [Step("x")])], "no solution in the pool has a labelled step"),
        ([Trace("a", "p" * 900, [Step("x"), Step("y")], labels=[GOOD, BAD])], "no labelled step fits the context"),
    ],
    ids=["holdout", "no errors", "no labels", "too long"],
)
def test_unusable_data_is_refused(traces, reason, tmp_path: Path, backbone_folders) -> None:
    write_traces(tmp_path / "data.jsonl", traces)
    with pytest.raises(DataError, match=reason):
        run(tmp_path / "data.jsonl", tmp_path / "out", small(backbone_folders["llama"]))


@pytest.mark.parametrize(
    "traces",
    [
        [Trace("one", "p", [Step("x"), Step("y")], labels=[GOOD, BAD])],
        [Trace("empty", "p", [Step(""), Step("")], labels=[GOOD, BAD])],
        [Trace(f"same{i}", "p", [Step("x"), Step(f"y{i}")], labels=[GOOD, BAD]) for i in range(30)],
        [Trace("long", "p", [Step("x")] * 500, labels=[GOOD] * 3 + [BAD] + [None] * 496)],
    ],
    ids=["one solution", "empty steps", "one problem thirty times", "500 steps"],
)
def test_odd_data_trains_without_a_fitted_threshold(traces, tmp_path: Path, backbone_folders) -> None:
    write_traces(tmp_path / "data.jsonl", traces)
    manifest, _ = run(tmp_path / "data.jsonl", tmp_path / "out", small(backbone_folders["llama"]))
    assert (manifest.fitted_on, manifest.threshold, manifest.temperature) == ("none", UNFITTED, 1.0)


def test_too_few_calibration_solutions_fit_nothing(tmp_path: Path, backbone_folders) -> None:
    pool = [Trace("one", "p", [Step("x"), Step("y")], labels=[GOOD, BAD])]
    few = make_traces(6, seed=1, split="calibration", prefix="c")
    write_traces(tmp_path / "data.jsonl", pool + few)
    manifest, _ = run(tmp_path / "data.jsonl", tmp_path / "out", small(backbone_folders["llama"]))
    assert (manifest.fitted_on, manifest.threshold, manifest.temperature) == ("none", UNFITTED, 1.0)
    assert manifest.counts.held_solutions == 6, "they stopped training early"


def test_the_shell_says_refused_data_in_one_line(tmp_path: Path, capsys) -> None:
    write_traces(tmp_path / "data.jsonl", make_traces(1, seed=0, split="holdout"))
    assert main(["train", "--data", str(tmp_path / "data.jsonl"), "--out", str(tmp_path / "o")]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "holdout" in said
