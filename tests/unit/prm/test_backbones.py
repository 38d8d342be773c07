"""A backbone is weights and a vocabulary: nothing of it is unpickled, and no code of it is run."""

import json
import shutil
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from prm.backbones import load_backbone
from prm.errors import ModelFileError


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
