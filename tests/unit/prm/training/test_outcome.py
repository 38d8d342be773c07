"""Process-only, outcome-only and hybrid models on the same data."""

from pathlib import Path

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from prm.cards import CARD_FILE
from prm.config import TrainConfig
from prm.errors import DataError
from prm.evaluation import evaluate
from prm.manifest import WEIGHTS_FILE, Manifest
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

PARTS = {"process": (1.0, 0.0), "outcome": (0.0, 1.0), "hybrid": (1.0, 1.0)}


def answered(traces: list[Trace]) -> list[Trace]:
    """In this world a wrong step makes a wrong answer."""
    return [msgspec.structs.replace(t, final_answer_correct=t.first_error == -1) for t in traces]


def fitted(kind: str, base: Path, folder: Path, traces: list[Trace], **choices) -> Manifest:
    write_traces(folder / "data.jsonl", traces)
    process, outcome = PARTS[kind]
    config = TrainConfig(
        base=str(base),
        epochs=20,
        heads=3,
        hidden=16,
        batch_steps=64,
        process_weight=process,
        outcome_weight=outcome,
        **choices,
    )
    return train(data=folder / "data.jsonl", out=folder / kind, config=config, report=lambda progress: None)


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, backbone_folders: dict[str, Path]) -> dict[str, Scorer]:
    folder = tmp_path_factory.mktemp("outcome")
    traces = answered(make_traces(120, seed=0) + make_traces(60, seed=1, split="calibration", prefix="c"))
    for kind in PARTS:
        fitted(kind, backbone_folders["llama"], folder, traces)
    return {kind: Scorer.load(folder / kind, device="cpu") for kind in PARTS}


def test_each_model_holds_the_parts_it_learned_and_says_so(models: dict[str, Scorer]) -> None:
    counts = models["hybrid"].manifest.counts
    assert counts.right_answers + counts.wrong_answers == counts.solutions
    assert models["process"].manifest.counts.right_answers == 0
    assert [models[kind].judges.outcome is None for kind in PARTS] == [True, False, False]
    assert models["outcome"].manifest.config.process_weight == 0


def test_on_a_frozen_backbone_the_outcome_part_leaves_the_step_heads_as_they_were(models: dict[str, Scorer]) -> None:
    process, hybrid = (models[kind].readout.heads.state_dict() for kind in ("process", "hybrid"))
    assert torch.allclose(process["scale"], hybrid["scale"], rtol=0.3)
    fresh = answered(make_traces(100, seed=5))
    reports = [
        evaluate(fresh, list(models[kind].score(fresh)), threshold=models[kind].threshold, bootstrap=5)
        for kind in ("process", "hybrid")
    ]
    alone, together = (report.overall.step_auroc.value for report in reports)
    assert together > alone - 0.03


def test_the_final_answer_is_judged_at_the_last_step_only(models: dict[str, Scorer]) -> None:
    [trace] = answered(make_traces(1, seed=9))
    longer = msgspec.structs.replace(trace, steps=[*trace.steps, Step("so so so")], labels=None)
    hybrid = models["hybrid"]
    [short], [long] = hybrid.score([trace]), hybrid.score([longer])
    assert short.outcome != long.outcome
    assert short.mean == pytest.approx(long.mean[:-1], abs=2e-4)
    assert next(models["process"].score([trace])).outcome is None
    [cut] = hybrid.score([Trace("cut", "Add.", [Step("1 + 1 = 2 so so so") for _ in range(500)])])
    [empty] = hybrid.score([Trace("empty", "Add.", [])])
    assert (cut.outcome, empty.outcome) == (None, None)


def test_an_outcome_model_scores_steps_by_its_outcome_part(models: dict[str, Scorer]) -> None:
    for score in models["outcome"].score(make_traces(5, seed=3)):
        assert all(0 < p < 1 for p in score.mean)
        assert None not in score.spread


def test_what_an_outcome_model_learned_from_stands_on_its_card(tmp_path: Path, backbone_folders) -> None:
    unrated = [msgspec.structs.replace(t, labels=None, first_error=None) for t in answered(make_traces(40, seed=0))]
    manifest = fitted("outcome", backbone_folders["llama"], tmp_path, unrated)
    assert manifest.counts.steps == 0
    assert "step scores are those of the outcome part" in (tmp_path / "outcome" / CARD_FILE).read_text()
    assert {name.split(".")[0] for name in load_file(tmp_path / "outcome" / WEIGHTS_FILE)} == {"outcome"}


@pytest.mark.parametrize("known", [None, True])
def test_an_outcome_part_without_right_and_wrong_answers_is_refused(known, tmp_path: Path, backbone_folders) -> None:
    traces = [msgspec.structs.replace(t, final_answer_correct=known) for t in make_traces(10, seed=0)]
    with pytest.raises(DataError, match="needs solutions with right and with wrong final answers"):
        fitted("hybrid", backbone_folders["llama"], tmp_path, traces)


@pytest.mark.parametrize("weights", [{"process_weight": 0}, {"process_weight": -1}])
def test_weights_that_leave_nothing_to_learn_are_refused(weights) -> None:
    with pytest.raises(ValueError, match="process_weight"):
        TrainConfig(**weights)
