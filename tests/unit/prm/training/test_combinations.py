"""Every combination of compiling, checkpointing, packing, lane and processes trains the model of the plain run."""

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import pytest
import torch
import torch.multiprocessing as multiprocessing
import transformers
from safetensors.torch import load_file

from prm.backbones import load_backbone, prepare_tuning
from prm.config import Progress, TrainConfig
from prm.errors import ModelFileError
from prm.manifest import WEIGHTS_FILE, read_manifest
from prm.traces import write_traces
from prm.training import run, train
from tests.processes import free_port
from tests.unit.prm.small_world import make_traces

ALONE, TOGETHER, SHARDED = "alone", "together", "sharded"
SWITCHES = ("packing", "compile", "gradient_checkpointing")
CHOICES = {"epochs": 2, "heads": 2, "hidden": 4, "dropout": 0.0, "batch_tokens": 1500, "trackers": ()}
# Plain gradient descent: the first steps of AdamW have one size, so that rounding would decide the sign of weak ones.
CHOICES |= {"features": ("separator",), "optimizer": "sgd", "learning_rate": 0.1, "backbone_learning_rate": 1.0}
CHOICES |= {"lora_targets": ("q_proj",), "lora_rank": 2}
NEAR = {"rtol": 1e-3, "atol": 2e-5}  # float32, sums in another order


def rows(*places: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and the settings of each combination."""
    for place, lane, *switches in product(places, ("full", "lora"), *[(False, True)] * len(SWITCHES)):
        settings = {"lane": lane, "shard": place == SHARDED, **dict(zip(SWITCHES, switches, strict=True))}
        if place == SHARDED and lane != "full":
            continue  # refused: see the test below
        if place == TOGETHER and settings["compile"]:
            continue  # whole layers are those of one process; their gradients are summed outside
        if place == SHARDED and settings["compile"] and not settings["packing"]:
            continue  # sharding replaces the layers' weights, and packing only their inputs; tracing takes long
        yield "-".join([place, lane, *(name for name in SWITCHES if settings[name])]), settings
    yield f"{places[0]}-heads", {"lane": "heads", "batch_steps": 64}


@contextmanager
def traced_only() -> Iterator[list[int]]:
    """Layers compiled as in earnest, except that no machine code is made. Yields one number per graph that runs."""
    import torch._dynamo

    ran: list[int] = []

    def backend(graph: Any, inputs: Any) -> Any:
        def replay(*values: Any) -> Any:
            ran.append(1)
            return graph(*values)

        return replay

    real = torch.compile
    torch.compile = lambda forward, **options: real(forward, **options, backend=backend)
    try:
        with torch._dynamo.config.patch(recompile_limit=64):  # of all combinations in one process
            yield ran
    finally:
        torch.compile = real


def follow(data: Path, folder: Path, base: Path, combinations: Iterable[tuple[str, dict[str, Any]]]) -> dict[str, int]:
    """Train each combination; the number of reports of each."""
    told = {}
    with traced_only() as ran:
        for name, settings in combinations:
            ran.clear()
            reports: list[Progress] = []
            config = TrainConfig(base=str(base), **CHOICES | settings)
            with patch.object(run, "shard_layers", wraps=run.shard_layers) as sharding:
                train(data=data, out=folder / name, config=config, report=reports.append)
            assert (bool(ran), sharding.called) == (config.compile, config.shard), name
            told[name] = len(reports)
    return told


def _as_one_of_two(rank: int, data: Path, folder: Path, base: Path, port: int) -> None:
    torch.set_num_threads(1)
    follow(data, folder, base, [row for row in rows(ALONE) if (row[1]["lane"] == "full") == (rank == 0)])
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    told = follow(data, folder, base, rows(TOGETHER, SHARDED))
    (folder / f"told-{rank}.json").write_text(json.dumps(told))


@pytest.fixture
def base(tmp_path: Path, backbone_folders: dict[str, Path]) -> Path:
    """A Llama of two layers: each layer is traced for itself, which takes most of the time."""
    folder = tmp_path / "base"
    shutil.copytree(backbone_folders["llama"], folder)
    transformers.LlamaForCausalLM.from_pretrained(folder, num_hidden_layers=2).save_pretrained(folder)
    return folder


def test_every_combination_trains_the_plain_model(tmp_path: Path, base: Path) -> None:
    data = tmp_path / "data.jsonl"
    write_traces(data, make_traces(12, seed=0) + make_traces(8, seed=1, split="calibration", prefix="c"))
    # Forked from one process that has imported what both need, for 5 CPU s.
    multiprocessing.set_forkserver_preload(["prm.training", "transformers.models.llama.modeling_llama"])
    given = (data, tmp_path, base, free_port())
    multiprocessing.start_processes(_as_one_of_two, args=given, nprocs=2, start_method="forkserver")

    told = [json.loads((tmp_path / f"told-{rank}.json").read_text()) for rank in (0, 1)]
    assert all(told[0].values()), "the leader reports"
    assert not any(told[1].values()), "and nobody else does"
    for name in told[0]:
        costs = read_manifest(tmp_path / name).costs
        alone = read_manifest(tmp_path / f"{ALONE}-{name.split('-')[1]}").costs
        assert costs
        assert alone
        assert costs.processes == 2
        assert costs.stages["cache"].tokens == alone.stages["cache"].tokens
    for name in [name for name, _ in rows(ALONE)] + list(told[0]):
        plain = f"{ALONE}-{name.split('-')[1]}"
        assert losses(tmp_path / name) == pytest.approx(losses(tmp_path / plain), abs=2e-4), name
        found, expected = (load_file(tmp_path / each / WEIGHTS_FILE) for each in (name, plain))
        assert found.keys() == expected.keys(), name
        for tensor in expected:
            torch.testing.assert_close(found[tensor], expected[tensor], **NEAR, msg=f"{name}: {tensor}")
    before = load_backbone(str(base), device="cpu").model.state_dict()
    after = load_file(tmp_path / f"{ALONE}-full" / WEIGHTS_FILE)
    tensor = "model.layers.0.self_attn.q_proj.weight"
    assert (after["backbone." + tensor] - before[tensor]).abs().max() > 10 * NEAR["atol"], (
        "else equal weights say nothing"
    )


def losses(folder: Path) -> list[float]:
    lines = map(msgspec.json.decode, (folder / "metrics.jsonl").read_bytes().splitlines())
    return [line[which] for line in lines for which in ("loss", "held_loss")]


@pytest.mark.parametrize("choice", ["compile", "gradient_checkpointing", "shard"])
def test_a_backbone_without_a_list_of_layers_is_refused_at_once(choice: str, backbone_folders: dict[str, Path]) -> None:
    backbone = load_backbone(str(backbone_folders["llama"]), device="cpu")
    backbone.model.model.layers = torch.nn.ModuleDict({str(i): layer for i, layer in enumerate(backbone.layers)})
    with pytest.raises(ModelFileError, match=f"`{choice}`: .*llama.* has no list of layers"):
        prepare_tuning(backbone, TrainConfig(lane="full", **{choice: True}))
