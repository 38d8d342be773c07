"""Adapters learn on a backbone in 4 or 8 bits, and the saved model scores as the trained one did."""

from importlib.util import find_spec
from pathlib import Path

import pytest
import torch
from transformers import AutoTokenizer, LlamaConfig, LlamaForCausalLM

from prm import backbones
from prm.backbones import load_backbone, load_configured, prepare_tuning
from prm.config import TrainConfig
from prm.encoding import encode
from prm.errors import ModelFileError
from prm.features import step_features
from prm.manifest import read_manifest
from prm.portable.exporting import export_folder
from prm.scoring import Scorer
from prm.traces import Trace, write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

needs_package = pytest.mark.skipif(find_spec("bitsandbytes") is None, reason="bitsandbytes is not installed")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory, backbone_folders: dict[str, Path]) -> Path:
    """A random Llama of width 128, larger than a block of 4-bit weights."""
    folder = tmp_path_factory.mktemp("wide")
    tokenizer = AutoTokenizer.from_pretrained(backbone_folders["llama"])
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    shape = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 2, "num_attention_heads": 4}
    LlamaForCausalLM(LlamaConfig(vocab_size=len(tokenizer), max_position_embeddings=512, **shape)).save_pretrained(
        folder
    )
    return folder


@needs_package
@pytest.mark.parametrize("quantization", ["4bit", "8bit"])
def test_adapters_learn_on_a_quantized_backbone(quantization, base: Path, tmp_path: Path) -> None:
    traces = make_traces(40, seed=0) + make_traces(30, seed=1, split="calibration", prefix="c")
    write_traces(tmp_path / "data.jsonl", traces)
    config = TrainConfig(
        base=str(base),
        lane="lora",
        quantization=quantization,
        epochs=6,
        heads=2,
        hidden=8,
        dropout=0.0,
        batch_tokens=700,
        features=("last", "separator"),
        gradient_checkpointing=True,
    )
    losses: list[float] = []
    train(
        data=tmp_path / "data.jsonl",
        out=tmp_path / "out",
        config=config,
        report=lambda progress: losses.append(progress.held_loss) if progress.held_loss is not None else None,
    )
    assert min(losses) < losses[0] - 0.02
    assert read_manifest(tmp_path / "out").config.quantization == quantization

    scorer = Scorer.load(tmp_path / "out", device="cpu")
    layer = scorer.backbone.model.model.layers[0].self_attn.q_proj
    assert layer.base_layer.weight.element_size() == 1, "four or eight bits are stored in bytes"
    assert float(layer.lora_B["default"].weight.abs().max()) > 0
    held = make_traces(6, seed=7)
    first = [score.mean for score in scorer.score(held)]
    assert first == [score.mean for score in Scorer.load(tmp_path / "out", device="cpu").score(held)]
    for trace, whole in zip(held, first, strict=True):
        [alone] = scorer.score([Trace("a", trace.problem, trace.steps[:2])])
        assert alone.mean == pytest.approx(whole[:2], abs=1e-4), "no step sees later ones or other solutions"
    with pytest.raises(ModelFileError, match=r'`quantization` "none"'):
        export_folder(tmp_path / "out", tmp_path / "exported")


@needs_package
@pytest.mark.parametrize("quantization", ["4bit", "8bit"])
def test_gradients_pass_quantized_layers(quantization, base: Path) -> None:
    """Those of a first layer's gate pass its quantized output projection, and nothing else."""
    gradients = []
    for kind in ("none", quantization):
        config = TrainConfig(base=str(base), lane="lora", quantization=kind)
        backbone = load_configured(config, device="cpu")
        torch.manual_seed(0)
        prepare_tuning(backbone, config)
        batch = encode(make_traces(4, seed=3), backbone.tokenizer, backbone.layout, backbone.context)
        step_features(backbone, batch, ("last",)).square().sum().backward()
        gradients.append(backbone.model.model.layers[0].mlp.gate_proj.lora_B["default"].weight.grad.flatten())
    assert torch.cosine_similarity(*gradients, dim=0) > 0.95


def test_without_the_package_the_error_says_what_to_install(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbones, "find_spec", lambda package: None)
    with pytest.raises(ModelFileError, match=r"pip install 'stepmark-prm\[quantized\]'"):
        load_backbone(str(base), device="cpu", quantization="8bit")
