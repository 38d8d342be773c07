"""A backbone is weights and a vocabulary: nothing of it is unpickled, and no code of it is run."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer, BertConfig, BertLMHeadModel, Phi3Config, Phi3ForCausalLM

from prm.backbones import load_backbone, prepare_tuning, tunable_parameters
from prm.config import FEATURES, TrainConfig
from prm.encoding import encode
from prm.errors import ModelFileError
from prm.features import step_features
from tests.unit.prm.conftest import Folders
from tests.unit.prm.small_world import make_traces


@pytest.fixture
def folder(backbone_folders: dict[str, Path], tmp_path: Path) -> Path:
    return Path(shutil.copytree(backbone_folders["llama"], tmp_path / "backbone"))


def test_pickled_weights_are_refused(folder: Path) -> None:
    torch.save(load_file(folder / "model.safetensors"), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelFileError, match="safetensors"):
        load_backbone(str(folder), device="cpu")


def test_code_beside_the_weights_is_not_run(folder: Path, tmp_path: Path) -> None:
    ran = tmp_path / "ran"
    (folder / "custom.py").write_text(f"open({str(ran)!r}, 'w').close()\n")
    config = json.loads((folder / "config.json").read_text())
    config |= {
        "model_type": "custom",
        "auto_map": {"AutoConfig": "custom.Config", "AutoModelForCausalLM": "custom.Model"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelFileError):
        load_backbone(str(folder), device="cpu")
    assert not ran.exists()


def test_one_digest_wherever_it_lies(folder: Path, backbone_folders: dict[str, Path]) -> None:
    here, there = (load_backbone(str(path), device="cpu").sha256 for path in (folder, backbone_folders["llama"]))
    assert here == there


def test_one_digest_in_whatever_type_it_is_loaded(backbone_folders: Folders, tmp_path: Path) -> None:
    stored = AutoModelForCausalLM.from_pretrained(backbone_folders["llama"], dtype=torch.bfloat16)
    stored.save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(backbone_folders["llama"]).save_pretrained(tmp_path)
    as_float32, as_stored = load_backbone(str(tmp_path), device="cpu"), load_backbone(str(tmp_path), device="cpu")
    as_stored.model.to(torch.bfloat16)
    assert as_float32.model.dtype == torch.float32
    assert as_float32.sha256 == as_stored.sha256


def test_a_backbone_that_sees_later_tokens_is_refused(backbone_folders: Folders, tmp_path: Path) -> None:
    config = BertConfig(
        vocab_size=260, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64
    )
    BertLMHeadModel(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(backbone_folders["qwen2"]).save_pretrained(tmp_path)
    with (
        pytest.warns(UserWarning, match="bert family are padded"),
        pytest.raises(ModelFileError, match="is not causal"),
    ):
        load_backbone(str(tmp_path), device="cpu")


def test_the_context_ends_where_length_would_change_the_first_steps(backbone_folders: Folders, tmp_path: Path) -> None:
    factors = {"short_factor": [1.0] * 4, "long_factor": [8.0] * 4}
    config = Phi3Config(
        vocab_size=260,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        original_max_position_embeddings=128,
        initializer_range=0.3,
        rope_parameters={"rope_type": "longrope", "rope_theta": 10000.0, **factors},
        pad_token_id=1,
    )
    Phi3ForCausalLM(config).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(backbone_folders["qwen2"]).save_pretrained(tmp_path)
    backbone = load_backbone(str(tmp_path), device="cpu")
    assert backbone.context == 128
    decoder, ids = backbone.model.get_decoder(), torch.arange(200)[None]
    with torch.no_grad():
        whole = decoder(input_ids=ids, use_cache=False).last_hidden_state[:, :100]
        prefix = decoder(input_ids=ids[:, :100], use_cache=False).last_hidden_state
    assert not torch.allclose(whole, prefix, atol=1e-2), "past 128 tokens the first states are others"


@pytest.mark.parametrize("lane", ["heads", "full", "lora"])
def test_in_bfloat16_what_learns_stays_in_float32(lane, backbone_folders: Folders) -> None:
    config = TrainConfig(lane=lane, precision="bfloat16", gradient_checkpointing=True)
    folder = str(backbone_folders["qwen2"])
    backbone = load_backbone(folder, device="cpu", precision=config.precision)
    prepare_tuning(backbone, config)
    learned = tunable_parameters(backbone)
    assert {p.dtype for p in learned.values()} <= {torch.float32}
    assert {p.dtype for p in backbone.model.parameters() if not p.requires_grad} <= {torch.bfloat16}
    batch = encode(make_traces(4, seed=2), backbone.tokenizer, backbone.layout, backbone.context)
    found = step_features(backbone, batch, FEATURES)
    exact = step_features(load_backbone(folder, device="cpu"), batch, FEATURES)
    assert found.dtype == torch.float32
    torch.testing.assert_close(found, exact, rtol=0.05, atol=0.1)
    if learned:
        found.square().mean().backward()
        assert all(torch.isfinite(p.grad).all() for p in learned.values() if p.grad is not None)
        assert any(p.grad is not None and p.grad.any() for p in learned.values())
