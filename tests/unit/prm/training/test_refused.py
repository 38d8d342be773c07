"""What training refuses before it begins: a folder in use, a backbone that takes no adapters."""

from pathlib import Path

import msgspec
import pytest
from safetensors.torch import load_file
from transformers import AutoTokenizer, MambaConfig, MambaForCausalLM

from prm.__main__ import main
from prm.backbones import TINY, load_backbone, prepare_tuning
from prm.config import TrainConfig
from prm.errors import FolderInUseError, TrainingError
from prm.files import locked_folder
from prm.traces import write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write_traces(tmp_path / "data.jsonl", make_traces(20, seed=0))
    return tmp_path / "data.jsonl"


@pytest.fixture(scope="module")
def mamba(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("mamba")
    tokenizer = AutoTokenizer.from_pretrained(str(TINY))
    tokenizer.save_pretrained(folder)
    shape = MambaConfig(vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, state_size=4)
    MambaForCausalLM(shape).save_pretrained(folder)
    return folder


def test_two_runs_into_one_folder_are_not_both_accepted(data: Path, tmp_path: Path, capsys):
    out = tmp_path / "out"
    with locked_folder(out):
        with pytest.raises(FolderInUseError):
            train(data=data, out=out, config=TrainConfig(epochs=1), report=lambda progress: None)
        assert main(["simulate", "--out", str(out)]) == 1
        assert "is in use by process" in capsys.readouterr().err


def test_a_state_space_backbone_learns_by_its_heads_or_by_adapters_in_named_layers(
    mamba: Path, data: Path, tmp_path: Path
):
    config = TrainConfig(base=str(mamba), epochs=1, heads=2, hidden=4)
    train(data=data, out=tmp_path / "heads", config=config, report=lambda progress: None)
    config = TrainConfig(base=str(mamba), lane="lora", epochs=1, heads=2, hidden=4)
    with pytest.raises(TrainingError, match=r'`lane`: "lora" does not work with backbone .*mamba.*`lora_targets`'):
        train(data=data, out=tmp_path / "lora", config=config, report=lambda progress: None)
    named = msgspec.structs.replace(config, lora_targets=("in_proj",), lora_alpha=20)
    backbone = load_backbone(str(mamba), device="cpu")
    prepare_tuning(backbone, named)
    assert {s for m in backbone.model.modules() for s in getattr(m, "scaling", {}).values()} == {20 / named.lora_rank}
    train(data=data, out=tmp_path / "lora", config=named, report=lambda progress: None)
    adapters = {name for name in load_file(tmp_path / "lora" / "model.safetensors") if "lora_" in name}
    assert {name.split(".lora_")[0].rpartition(".")[2] for name in adapters} == {"in_proj"}


@pytest.mark.parametrize(("alpha", "scales"), [(None, {2.0}), (8, {2.0, 4.0})])
def test_a_layer_can_have_adapters_of_another_rank(mamba: Path, alpha: int | None, scales: set[float]) -> None:
    pattern = {"layers.1.mixer.in_proj": 2}
    config = TrainConfig(
        lane="lora", lora_rank=4, lora_rank_pattern=pattern, lora_alpha=alpha, lora_targets=("in_proj",)
    )
    backbone = load_backbone(str(mamba), device="cpu")
    prepare_tuning(backbone, config)
    adapted = [module for module in backbone.model.modules() if hasattr(module, "lora_A")]
    assert [module.r["default"] for module in adapted] == [4, 2]
    assert {module.scaling["default"] for module in adapted} == scales
    for wrong, message in {
        "k_proj": "no adapted layer .* ends in 'k_proj'",
        "(": "does not work with backbone",
    }.items():
        unfit = msgspec.structs.replace(config, lora_rank_pattern={wrong: 2})
        with pytest.raises(TrainingError, match=message):
            prepare_tuning(load_backbone(str(mamba), device="cpu"), unfit)
