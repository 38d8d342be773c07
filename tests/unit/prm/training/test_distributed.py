"""Two processes train the model that one would: whole or in shards, from the shell too."""

import json
import os
from pathlib import Path

import msgspec
import pytest
import torch
import torch.multiprocessing as multiprocessing
from safetensors.torch import load_file

from prm.config import Progress, TrainConfig
from prm.manifest import WEIGHTS_FILE, read_manifest
from prm.traces import write_traces
from prm.training import train
from tests.unit.prm.small_world import make_traces

CHOICES = {"epochs": 2, "heads": 3, "hidden": 8, "dropout": 0.0, "batch_tokens": 1500}
COURSES = {
    "heads": {"lane": "heads", "batch_steps": 64},
    "full": {"lane": "full"},
    "sharded": {"lane": "full", "shard": True},
}


def course(base: Path, name: str) -> TrainConfig:
    return TrainConfig(**{"base": str(base)} | CHOICES | COURSES[name])


def follow(data: Path, out: Path, config: TrainConfig) -> list[Progress]:
    reports: list[Progress] = []
    train(data=data, out=out, config=config, report=reports.append)
    return reports


def _as_one_of_two(rank: int, data: Path, folder: Path, base: Path, port: int) -> None:
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    torch.set_num_threads(1)
    told = {name: len(follow(data, folder / name, course(base, name))) for name in COURSES}
    (folder / f"told-{rank}.json").write_text(json.dumps(told))


def test_two_processes_train_what_one_does(tmp_path: Path, backbone_folders: dict[str, Path], free_port: int) -> None:
    data, base = tmp_path / "data.jsonl", backbone_folders["llama"]
    write_traces(data, make_traces(24, seed=0) + make_traces(24, seed=1, split="calibration", prefix="c"))
    # Forked from one process that has imported what both need, for 5 CPU s.
    multiprocessing.set_forkserver_preload(["prm.training", "transformers.models.llama.modeling_llama"])
    given = (data, tmp_path, base, free_port)
    multiprocessing.start_processes(_as_one_of_two, args=given, nprocs=2, start_method="forkserver")
    for name in COURSES:
        alone = tmp_path / f"{name} alone"
        follow(data, alone, course(base, name))
        for line, other in zip(*(read_metrics(folder) for folder in (alone, tmp_path / name)), strict=True):
            assert line["epoch"] == other["epoch"]
            assert line["loss"] == pytest.approx(other["loss"], abs=2e-4)
            assert line["held_loss"] == pytest.approx(other["held_loss"], abs=2e-4)
        mine, theirs = (load_file(folder / WEIGHTS_FILE) for folder in (alone, tmp_path / name))
        assert {n: t.shape for n, t in mine.items()} == {n: t.shape for n, t in theirs.items()}
        costs, alone_costs = read_manifest(tmp_path / name).costs, read_manifest(alone).costs
        assert costs is not None
        assert alone_costs is not None
        assert costs.processes == 2
        assert costs.stages["cache"].tokens == alone_costs.stages["cache"].tokens
    told = [json.loads((tmp_path / f"told-{rank}.json").read_text()) for rank in (0, 1)]
    assert all(told[0].values()), "the leader reports"
    assert not any(told[1].values()), "and nobody else does"


def read_metrics(folder: Path) -> list[dict[str, float]]:
    return [msgspec.json.decode(line) for line in (folder / "metrics.jsonl").read_bytes().splitlines()]
