"""Scores know only the problem and the steps so far, and nothing past the context."""

import shutil
from pathlib import Path

import msgspec
import numpy as np
import pytest
import torch

from prm.config import TrainConfig
from prm.errors import ModelFileError
from prm.files import write_json
from prm.manifest import MANIFEST_FILE, WEIGHTS_FILE, read_manifest
from prm.scoring import Scorer
from prm.traces import Step, Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

TOLERANCE = 2e-4


@pytest.fixture(scope="module", params=["llama", "qwen2", "tiny"])
def model(request: pytest.FixtureRequest, backbone_folders: dict[str, Path], tmp_path_factory) -> Path:
    """A model of each backbone, trained for an epoch."""
    folder = tmp_path_factory.mktemp("model")
    write_traces(folder / "data.jsonl", make_traces(40, seed=0))
    base = request.param if request.param == "tiny" else str(backbone_folders[request.param])
    config = TrainConfig(base=base, epochs=2, heads=3, hidden=8)
    train(data=folder / "data.jsonl", out=folder / "out", config=config, report=lambda progress: None)
    return folder / "out"


def test_a_prefix_scores_as_in_the_whole(model: Path) -> None:
    scorer = Scorer.load(model, device="cpu")
    traces = make_traces(8, seed=7)
    traces.append(Trace("empty", "Add 1.", [Step(""), Step("1 + 1 = 2"), Step("")]))
    whole = {score.id: score for score in scorer.score(traces)}
    prefixes = [
        msgspec.structs.replace(t, id=f"{t.id}/{k}", steps=t.steps[:k], labels=None, first_error=None)
        for t in traces
        for k in range(1, len(t.steps))
    ]
    for score in scorer.score(prefixes):
        name, k = score.id.split("/")
        np.testing.assert_allclose(score.heads, whole[name].heads[: int(k)], atol=TOLERANCE)


def test_later_text_changes_nothing_before_it(model: Path) -> None:
    scorer = Scorer.load(model, device="cpu")
    trace = make_traces(1, seed=3)[0]
    changed = msgspec.structs.replace(trace, steps=[*trace.steps[:-1], Step("nonsense " * 20)])
    [a], [b] = scorer.score([trace]), scorer.score([changed])
    np.testing.assert_allclose(a.heads[:-1], b.heads[:-1], atol=TOLERANCE)
    assert abs(a.mean[-1] - b.mean[-1]) > TOLERANCE


def test_how_layers_were_run_in_training_is_no_part_of_scoring(model: Path, tmp_path: Path, monkeypatch) -> None:
    shutil.copytree(model, tmp_path / "model")
    manifest = read_manifest(model)
    config = msgspec.structs.replace(manifest.config, compile=True, gradient_checkpointing=True)
    write_json(tmp_path / "model" / MANIFEST_FILE, msgspec.structs.replace(manifest, config=config))
    monkeypatch.setattr(torch, "compile", lambda *_, **__: pytest.fail("compiling costs minutes"))
    traces = make_traces(3, seed=7)
    found, expected = (list(Scorer.load(folder).score(traces)) for folder in (tmp_path / "model", model))
    assert [score.heads for score in found] == [score.heads for score in expected]


def test_batch_mates_and_padding_change_nothing_and_order_is_kept(model: Path) -> None:
    scorer = Scorer.load(model, device="cpu")
    traces = make_traces(30, seed=11)
    together = list(scorer.score(traces))
    assert [score.id for score in together] == [trace.id for trace in traces]
    scorer.local.token_budget = 1  # each alone
    for alone, crowd in zip(scorer.score(traces), together, strict=True):
        np.testing.assert_allclose(alone.heads, crowd.heads, atol=TOLERANCE)


def test_steps_beyond_the_context_are_none(model: Path) -> None:
    scorer = Scorer.load(model, device="cpu")
    long = Trace("long", "Add.", [Step("1 + 1 = 2 so so so") for _ in range(500)])
    hopeless = Trace("hopeless", "y " * 9000, [Step("x")])
    first, second = scorer.score([long, hopeless])
    scored = sum(p is not None for p in first.mean)
    assert 0 < scored < 500
    assert all(p is None for p in first.mean[scored:] + first.heads[scored:] + first.spread[scored:])
    assert first.solution == pytest.approx(np.prod(first.mean[:scored]))
    assert (second.mean, second.solution) == ([None], None)


def test_a_zero_label_scorer_has_one_head_and_no_spread() -> None:
    [score] = Scorer.for_base("tiny", device="cpu").score([make_traces(1, seed=3)[0]])
    assert all(len(heads) == 1 and 0 < heads[0] <= 1 for heads in score.heads)
    assert set(score.spread) == {None}


@pytest.mark.parametrize("model", ["llama"], indirect=True)
def test_corrupt_or_foreign_models_are_refused_with_the_reason(model: Path, tmp_path: Path) -> None:
    manifest = (model / MANIFEST_FILE).read_text()
    weights = (model / WEIGHTS_FILE).read_bytes()

    def refuse(manifest: str, weights: bytes, reason: str) -> None:
        (tmp_path / MANIFEST_FILE).write_text(manifest)
        (tmp_path / WEIGHTS_FILE).write_bytes(weights)
        with pytest.raises(ModelFileError, match=reason):
            Scorer.load(tmp_path)

    refuse(manifest, weights[:-1] + b"?", "checksum")
    refuse(manifest[: len(manifest) // 2], weights, "corrupt")
    refuse('{"format": "other"}', weights, "not a manifest")
    refuse(manifest.replace('"format_version": 5', '"format_version": 9'), weights, "format version 9")
    refuse(manifest.replace('"base_sha256": "', '"base_sha256": "0'), weights, "a different")
    refuse(manifest.replace(f'"{WEIGHTS_FILE}":', f'"../{WEIGHTS_FILE}":'), weights, "checksum|outside")
    with pytest.raises(ModelFileError, match="not a model folder"):
        Scorer.load(tmp_path / "nowhere")
