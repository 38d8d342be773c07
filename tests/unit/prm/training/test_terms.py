"""Runs with every term of the objective at once: resumable, learning, and scored like any other."""

from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from prm.config import TrainConfig
from prm.errors import Cancelled
from prm.evaluation import evaluate
from prm.labels import BAD, GOOD
from prm.manifest import WEIGHTS_FILE
from prm.scoring import Scorer
from prm.traces import Alternative, Step, StepLabel, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

EVERYTHING = {
    "classes": 3,
    "outcome_weight": 0.5,
    "pairwise_weight": 0.5,
    "graded_weight": 0.3,
    "class_balance": "effective",
    "label_smoothing": 0.05,
    "robustness": 0.3,
    "anchor": 0.1,
}


def rich(trace: Trace) -> Trace:
    """With a known answer, a neutral first step, and a rated completion beside each labelled step."""
    beside = [
        Alternative(
            k, Step(trace.steps[k].text + (" wrong!" if label == GOOD else " fixed")), BAD if label == GOOD else GOOD
        )
        for k, label in enumerate(trace.labels)
        if label is not None
    ]
    labels = [StepLabel(0.2, 0.8, 0.0) if trace.labels[0] == GOOD else BAD, *trace.labels[1:]]
    right = trace.first_error == -1
    return msgspec.structs.replace(trace, labels=labels, alternatives=beside, final_answer_correct=right)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    calibration = make_traces(40, seed=1, split="calibration", prefix="c")
    unread = [
        msgspec.structs.replace(rich(trace), labels=None, first_error=None, alternatives=[])
        for trace in make_traces(20, seed=2, prefix="u")
    ]
    write_traces(path, [*(rich(trace) for trace in make_traces(30, seed=0) + calibration), *unread])
    return path


def run(data: Path, out: Path, config: TrainConfig, cancelled=lambda: False):
    return train(data=data, out=out, config=config, report=lambda progress: None, cancelled=cancelled)


@pytest.mark.parametrize("lane", ["heads", "full"])
def test_with_every_term_a_resumed_run_equals_an_uninterrupted_one(
    lane, data: Path, tmp_path, backbone_folders
) -> None:
    config = TrainConfig(
        base=str(backbone_folders["llama"]), lane=lane, epochs=2, heads=3, hidden=8, batch_steps=16, **EVERYTHING
    )
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    def stop() -> bool:
        nonlocal asked
        asked -= 1
        return asked == 0

    run(data, tmp_path / "straight", config, count)
    asked = asked * 3 // 4
    with pytest.raises(Cancelled):
        run(data, tmp_path / "broken", config, stop)
    assert (tmp_path / "broken/checkpoint/state.safetensors").exists()
    run(data, tmp_path / "broken", config)
    straight, resumed = (load_file(tmp_path / which / WEIGHTS_FILE) for which in ("straight", "broken"))
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def test_three_classes_with_every_term_learn_and_say_what_they_learned_from(data, tmp_path, backbone_folders) -> None:
    config = TrainConfig(
        base=str(backbone_folders["llama"]), epochs=40, heads=3, hidden=32, batch_steps=64, **EVERYTHING
    )
    counts = run(data, tmp_path / "out", config).counts
    assert counts.alternatives == counts.pairs == sum(place.steps for place in counts.by_position.values()) / 2
    assert counts.neutral == pytest.approx(0.8 * sum(t.first_error != 0 for t in make_traces(30, seed=0)))
    assert counts.by_position["1"].steps == 60
    scorer = Scorer.load(tmp_path / "out", device="cpu")
    fresh = make_traces(80, seed=5)
    scores = list(scorer.score(fresh))
    assert all(0 < p < 1 for score in scores for heads in score.heads for p in heads)
    report = evaluate(fresh, scores, threshold=scorer.threshold, bootstrap=20)
    assert report.overall.step_auroc.value > 0.85 > report.overall.index_auroc.value
