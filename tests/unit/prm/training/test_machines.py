"""Two processes with folders of their own train one model, or both end with an error."""

import json
import os
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
import torch.multiprocessing as multiprocessing
from safetensors.torch import load_file

from prm.config import TrainConfig
from prm.errors import PRMError, TrainingError
from prm.manifest import WEIGHTS_FILE
from prm.traces import write_traces
from prm.training import distributed, fitting, train
from prm.training.caches import Cache
from tests.processes import free_port
from tests.unit.prm.small_world import make_traces

SECONDS = 120  # for all steps of a test, which take 10 on an idle machine
CHOICES = {"epochs": 2, "heads": 2, "hidden": 4, "batch_tokens": 1500, "batch_steps": 64, "trackers": ()}
Steps = Callable[["Machine"], Iterator[Any]]


class Machine:
    """One of two processes, with its own data file, model folder and cache."""

    def __init__(self, rank: int, folder: Path, base: Path) -> None:
        self.rank, self.base = rank, base
        self.folder, self.other = folder / str(rank), folder / str(1 - rank)
        self.cache = Cache(self.folder / "cache")

    def train(self, name: str, data: str = "data.jsonl", stops: bool = False, **choices: Any) -> str:
        """Train in the folder `name`; returns "trained" or "unchanged", or the error."""
        stages: list[str] = []
        out = self.folder / name
        try:
            train(
                data=self.folder / data,
                out=out,
                config=TrainConfig(base=str(self.base), **CHOICES | choices),
                cache=self.cache,
                report=lambda progress: stages.append(progress.stage),
                cancelled=lambda: stops and self.rank == 0 and (out / "checkpoint").exists(),
            )
        except PRMError as error:
            return f"{type(error).__name__}: {error}"
        return "trained" if "train" in stages else "unchanged"


def _run(rank: int, steps: Steps, folder: Path, base: Path, port: int) -> None:
    torch.set_num_threads(1)
    os.environ |= {"RANK": str(rank), "LOCAL_RANK": "0", "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "1"}
    os.environ |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    outcomes = list(steps(Machine(rank, folder, base)))
    (folder / f"outcomes-{rank}.json").write_text(json.dumps(outcomes))


Run = Callable[[Steps], list[list[Any]]]


@pytest.fixture
def run(tmp_path: Path, backbone_folders: dict[str, Path]) -> Run:
    """Run steps on both machines; returns what each yields, nothing of one that failed."""
    traces = make_traces(20, seed=0) + make_traces(16, seed=1, split="calibration", prefix="c")
    for rank in (0, 1):
        (tmp_path / str(rank)).mkdir()
        write_traces(tmp_path / str(rank) / "data.jsonl", traces[:: 1 if rank else -1])
    write_traces(tmp_path / "1" / "only-here.jsonl", traces)
    write_traces(tmp_path / "0" / "differs.jsonl", traces)
    write_traces(tmp_path / "1" / "differs.jsonl", traces[1:])

    def start(steps: Steps) -> list[list[Any]]:
        multiprocessing.set_forkserver_preload(["prm.training", "transformers.models.llama.modeling_llama"])
        context = multiprocessing.get_context("forkserver")
        arguments = (steps, tmp_path, backbone_folders["llama"], free_port())
        processes = [context.Process(target=_run, args=(rank, *arguments)) for rank in (0, 1)]
        for process in processes:
            process.start()
        hanging = []
        for process in processes:
            process.join(SECONDS)
            if process.is_alive():
                hanging.append(process.name)
                process.kill()
        assert hanging == []
        files = [tmp_path / f"outcomes-{rank}.json" for rank in (0, 1)]
        return [json.loads(file.read_text()) if file.exists() else [] for file in files]

    return start


def _finished_on_one_side(machine: Machine) -> Iterator[Any]:
    yield machine.train("first")
    yield (machine.folder / "first").exists()
    yield machine.train("first")
    if machine.rank == 1:
        shutil.copytree(machine.other / "first", machine.folder / "second")
    yield machine.train("second")


def test_the_leaders_folder_decides_whether_a_model_is_finished(run: Run, tmp_path: Path) -> None:
    outcomes = run(_finished_on_one_side)
    assert outcomes[0] == ["trained", True, "unchanged", "trained"]
    assert outcomes[1] == ["unchanged", False, "unchanged", "unchanged"], "it neither reports nor writes"
    first, second = (load_file(tmp_path / "0" / name / WEIGHTS_FILE) for name in ("first", "second"))
    assert all(torch.equal(first[name], second[name]) for name in first)


def _resuming(machine: Machine) -> Iterator[Any]:
    choices = {"lane": "lora", "lora_targets": ("q_proj",), "lora_rank": 2}
    yield machine.train("straight", **choices)
    yield machine.train("stopped", stops=True, checkpoint_seconds=0.0, **choices)
    yield machine.train("stopped", checkpoint_seconds=0.0, **choices)


def test_a_run_resumes_from_a_checkpoint_that_only_the_leader_has(run: Run, tmp_path: Path) -> None:
    outcomes = run(_resuming)
    stopped = "Cancelled: training was cancelled; run the same command to resume it"
    assert outcomes == [["trained", stopped, "trained"], ["unchanged", stopped, "unchanged"]]
    assert _losses(tmp_path / "0" / "stopped") == _losses(tmp_path / "0" / "straight")
    straight, resumed = (load_file(tmp_path / "0" / name / WEIGHTS_FILE) for name in ("straight", "stopped"))
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


def _losses(out: Path) -> list[float]:
    return [msgspec.json.decode(line)["loss"] for line in (out / "metrics.jsonl").read_bytes().splitlines()]


def _with_caches(machine: Machine) -> Iterator[Any]:
    yield machine.train("cold")
    if machine.rank == 0:
        machine.cache.path.unlink()
    yield machine.train("other-cache", seed=1)
    yield machine.train("both", seed=2)


def test_each_machine_may_have_a_cache_of_its_own(run: Run) -> None:
    assert run(_with_caches) == [["trained"] * 3, ["unchanged"] * 3]


def _with_other_inputs(machine: Machine) -> Iterator[Any]:
    yield machine.train("out", data="differs.jsonl")
    yield machine.train("out", data="only-here.jsonl")
    yield machine.train("out", epochs=1 + machine.rank)


def test_machines_with_other_inputs_end_with_an_error(run: Run, tmp_path: Path) -> None:
    outcomes = run(_with_other_inputs)
    for told in outcomes:
        assert told[0].startswith("DataError: Process 1 differs from process 0 in its data.")
        assert told[2].startswith("DataError: Process 1 differs from process 0 in its config.")
    missing = f"{tmp_path}/0/only-here.jsonl: No such file or directory"
    assert outcomes[0][1] == f"DataError: {missing}"
    assert outcomes[1][1] == f"TrainingError: Process 0 failed. Reason: {missing}"


def _failing_leader(machine: Machine) -> Iterator[Any]:
    def fail(fit: fitting.Fit) -> None:
        raise TrainingError("the leader's disk is full")

    fitting.Fit.run = fail  # type: ignore[method-assign]  # in this process only
    try:
        yield machine.train("out")
    except RuntimeError:  # the connection is closed
        yield "lost"


def test_a_leader_that_fails_alone_leaves_nobody_waiting(run: Run) -> None:
    assert run(_failing_leader) == [["TrainingError: the leader's disk is full"], ["lost"]]


def _absent(machine: Machine) -> Iterator[Any]:
    distributed.JOINING = timedelta(seconds=2)
    if machine.rank == 0:
        try:
            yield machine.train("out")
        except RuntimeError:
            yield "alone"


def test_a_process_that_never_joins_is_not_waited_for_long(run: Run) -> None:
    assert run(_absent) == [["alone"], []]
