"""A run goes on after what ends others: a kill, a wish to stop, memory that runs out; it ends where nothing changed."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch
from safetensors.torch import load_file

from prm.config import Progress, TrainConfig
from prm.errors import Cancelled, DataError, TrainingError
from prm.labels import BAD
from prm.manifest import WEIGHTS_FILE, Manifest, current_versions
from prm.traces import Alternative, Step, write_traces
from prm.trackers import TRACKERS, TrackedRun
from prm.training import inputs, lanes, train
from prm.training.caches import Cache
from prm.training.stepping import rate_factor
from tests.plugins.extensions import InstallExtension
from tests.unit.prm.small_world import make_traces


def small(base: Path, **choices: Any) -> TrainConfig:
    return TrainConfig(**{"base": str(base), "epochs": 2, "heads": 3, "hidden": 8, "batch_tokens": 1500} | choices)


def run(data: Path, out: Path, config: TrainConfig, **given: Any) -> tuple[Manifest, list[Progress]]:
    reports: list[Progress] = []
    return train(data=data, out=out, config=config, report=reports.append, **given), reports


def losses(out: Path) -> list[float]:
    return [msgspec.json.decode(line)["loss"] for line in (out / "metrics.jsonl").read_bytes().splitlines()]


@pytest.fixture
def base(backbone_folders: dict[str, Path]) -> Path:
    return backbone_folders["llama"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.jsonl"
    write_data(path)
    return path


def write_data(path: Path) -> None:
    write_traces(path, make_traces(30, seed=0) + make_traces(24, seed=1, split="calibration", prefix="c"))


@pytest.fixture(scope="module")
def roomy(tmp_path_factory: pytest.TempPathFactory, backbone_folders: dict[str, Path]) -> tuple[TrainConfig, Path]:
    """A config and the folder of its run with enough memory."""
    folder, config = tmp_path_factory.mktemp("roomy"), small(backbone_folders["llama"], lane="full", dropout=0.0)
    write_data(folder / "data.jsonl")
    run(folder / "data.jsonl", folder / "out", config)
    return config, folder / "out"


KILLED = """
import os, signal, sys
from pathlib import Path
import msgspec
from prm.config import TrainConfig
from prm.training import train
config = msgspec.json.decode(sys.argv[3], type=TrainConfig)
out, looks = Path(sys.argv[2]), []
def cancelled():
    if (out / "checkpoint/state.safetensors").exists():
        looks.append(1)
    if len(looks) == int(sys.argv[4]):
        os.kill(os.getpid(), signal.SIGKILL)
    return False
train(data=Path(sys.argv[1]), out=out, config=config, report=lambda progress: None, cancelled=cancelled)
"""


@pytest.mark.parametrize(("lane", "precision"), [("lora", "bfloat16")])
def test_a_killed_run_goes_on_with_the_losses_of_one_that_was_not(lane, precision, data, base, tmp_path) -> None:
    config = small(base, lane=lane, precision=precision, checkpoint_seconds=0.0, epochs=3)
    run(data, tmp_path / "straight", config)
    command = [sys.executable, "-c", KILLED, str(data), str(tmp_path / "killed"), msgspec.json.encode(config), "2"]
    assert subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}).returncode == -signal.SIGKILL
    assert (tmp_path / "killed/checkpoint/state.safetensors").exists()
    run(data, tmp_path / "killed", config)
    assert losses(tmp_path / "killed") == losses(tmp_path / "straight")
    straight, resumed = (load_file(tmp_path / which / WEIGHTS_FILE) for which in ("straight", "killed"))
    assert all(torch.equal(straight[name], resumed[name]) for name in straight)


@pytest.mark.parametrize("stage", ["tokenise", "cache", "train"])
def test_a_wish_to_stop_is_heard_in_every_stage(stage: str, data: Path, base: Path, tmp_path: Path) -> None:
    reached: list[str] = []

    def cancelled() -> bool:
        return stage in reached

    with pytest.raises(Cancelled):
        train(
            data=data,
            out=tmp_path / "out",
            config=small(base, lane="full"),
            report=lambda progress: reached.append(progress.stage),
            cancelled=cancelled,
        )
    assert reached[-1] == stage


@pytest.mark.parametrize(("optimizer", "schedule"), [("adamw", "cosine"), ("adafactor", "linear"), ("sgd", "constant")])
def test_a_wish_to_stop_while_the_held_part_is_read_leaves_a_checkpoint(
    optimizer, schedule, data, base, tmp_path, monkeypatch
) -> None:
    config, reading = small(base, lane="full", optimizer=optimizer, schedule=schedule), []
    run(data, tmp_path / "straight", config)
    read = lanes.TunedLane.held_features

    def held_features(self: lanes.TunedLane, token_budget: int) -> torch.Tensor:
        reading.append(True)
        return read(self, token_budget)

    monkeypatch.setattr(lanes.TunedLane, "held_features", held_features)
    with pytest.raises(Cancelled):
        run(data, tmp_path / "broken", config, cancelled=lambda: bool(reading))
    monkeypatch.undo()
    run(data, tmp_path / "broken", config)
    assert losses(tmp_path / "broken") == losses(tmp_path / "straight")
    straight, broken = (load_file(tmp_path / which / WEIGHTS_FILE) for which in ("straight", "broken"))
    assert all(torch.equal(straight[name], broken[name]) for name in straight)


def test_learning_rates_rise_and_follow_their_schedule() -> None:
    shares = {
        schedule: [rate_factor(TrainConfig(schedule=schedule, warmup=0.2), number, 10) for number in (0, 1, 5, 9)]
        for schedule in ("constant", "linear", "cosine")
    }
    assert shares == {
        "constant": [0.5, 1, 1, 1],
        "linear": pytest.approx([0.5, 0.9, 0.5, 0.1]),
        "cosine": pytest.approx([0.5, 0.9755283, 0.5, 0.024471741852423234]),
    }


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        MemoryError(),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
    ids=["cuda", "python", "cpu"],
)
def test_memory_that_runs_out_makes_the_parts_smaller_and_the_steps_the_same(
    error, data, roomy, tmp_path, monkeypatch
) -> None:
    config, with_enough = roomy
    room, read = 500, lanes.TunedLane.features

    def features(self: lanes.TunedLane, batch: list[int]) -> torch.Tensor:
        if sum(self.lengths(batch)) > room:
            raise error
        return read(self, batch)

    monkeypatch.setattr(lanes.TunedLane, "features", features)
    manifest, reports = run(data, tmp_path / "tight", config)
    assert manifest.notes == [
        "out of memory: each pass of training is now limited to 750 tokens",
        "out of memory: each pass of training is now limited to 375 tokens",
    ]
    assert [report.message for report in reports if "out of memory" in report.message] == manifest.notes
    assert losses(tmp_path / "tight") == pytest.approx(losses(with_enough), abs=1e-5)


def test_memory_that_never_suffices_is_said_clearly(data, base, tmp_path, monkeypatch) -> None:
    def features(self: lanes.TunedLane, batch: list[int]) -> torch.Tensor:
        raise torch.OutOfMemoryError("CUDA out of memory.")

    monkeypatch.setattr(lanes.TunedLane, "features", features)
    with pytest.raises(TrainingError, match=r"not even 93 tokens fit in one pass of training\. Use a smaller"):
        run(data, tmp_path / "out", small(base, lane="full"))


def test_reading_without_gradient_takes_smaller_passes_too(data, base, tmp_path, monkeypatch) -> None:
    config, compute = small(base), inputs.compute_features

    def compute_features(backbone, encoded, token_budget, features, after_batch):
        if token_budget > 2048:
            raise MemoryError
        return compute(backbone, encoded, token_budget, features, after_batch)

    monkeypatch.setattr(inputs, "compute_features", compute_features)
    manifest, _ = run(data, tmp_path / "out", config)
    assert manifest.notes[-1] == "out of memory: each pass of reading is now limited to 2048 tokens"


def test_another_error_of_the_runtime_is_no_lack_of_memory(data, base, tmp_path, monkeypatch) -> None:
    def features(self: lanes.TunedLane, batch: list[int]) -> torch.Tensor:
        raise RuntimeError("shapes cannot be multiplied")

    monkeypatch.setattr(lanes.TunedLane, "features", features)
    with pytest.raises(RuntimeError, match="shapes"):
        run(data, tmp_path / "out", small(base, lane="full"))


ALL_TERMS = {
    "outcome_weight": 0.5,
    "pairwise_weight": 0.5,
    "graded_weight": 0.5,
    "classes": 3,
    "anchor": 1.0,
    "class_balance": "inverse",
}


@pytest.mark.parametrize("terms", [{}, ALL_TERMS], ids=["plain", "all terms"])
def test_a_batch_read_in_parts_is_the_batch(terms, data, base, tmp_path) -> None:
    read = [
        msgspec.structs.replace(
            trace,
            final_answer_correct=number % 2 == 0,
            alternatives=[Alternative(0, Step("1 = 2"), BAD)] if number % 3 else [],
        )
        for number, trace in enumerate(make_traces(30, seed=0))
    ]
    unread = [
        msgspec.structs.replace(trace, labels=None, first_error=None, final_answer_correct=trace.first_error == -1)
        for trace in make_traces(20, seed=1, prefix="u")
    ]
    write_traces(data, [*read, *unread])
    for name, choices in {"whole": {}, "parts": {"part_tokens": 300}}.items():
        run(data, tmp_path / name, small(base, lane="full", dropout=0.0, **terms, **choices))
    assert losses(tmp_path / "parts") == pytest.approx(losses(tmp_path / "whole"), abs=1e-5)


def test_a_finished_model_stands_while_nothing_changes(data, base, tmp_path) -> None:
    config, out = small(base), tmp_path / "out"
    first, _ = run(data, out, config)
    lines = data.read_bytes().splitlines(keepends=True)
    data.write_bytes(b"".join(reversed(lines)))
    again, reports = run(data, out, config)
    assert again == first
    assert [report.stage for report in reports] == ["done"]
    assert (
        reports[0].message
        == f"nothing to train: nothing has changed since this model was finished at {first.created_at}"
    )
    for other, changed in ((lines[1:], config), (lines, small(base, seed=1))):
        data.write_bytes(b"".join(other))
        assert run(data, out, changed)[0] != first


def test_other_code_trains_again(data, base, tmp_path, monkeypatch) -> None:
    config, out = small(base), tmp_path / "out"
    run(data, out, config)
    monkeypatch.setattr("prm.manifest.library_sha256", lambda: "another")
    assert current_versions()["prm"] == "another"
    assert len(run(data, out, config)[1]) > 1


def test_the_order_of_the_file_is_no_part_of_a_run(data, base, tmp_path) -> None:
    run(data, tmp_path / "forth", small(base))
    data.write_bytes(b"".join(reversed(data.read_bytes().splitlines(keepends=True))))
    run(data, tmp_path / "back", small(base))
    assert losses(tmp_path / "back") == losses(tmp_path / "forth")


def test_a_retrain_reads_only_what_is_new(data, base, tmp_path, monkeypatch) -> None:
    cache, config = Cache(tmp_path / "cache"), small(base)
    run(data, tmp_path / "first", config, cache=cache)
    read: list[int] = []
    compute = inputs.compute_features
    monkeypatch.setattr(
        inputs,
        "compute_features",
        lambda backbone, items, *rest: read.append(len(items)) or compute(backbone, items, *rest),
    )
    run(data, tmp_path / "again", config, cache=cache)
    assert read == []
    weights = [load_file(tmp_path / name / WEIGHTS_FILE) for name in ("first", "again")]
    assert all(torch.equal(weights[0][name], weights[1][name]) for name in weights[0])
    write_traces(data, make_traces(33, seed=0) + make_traces(24, seed=1, split="calibration", prefix="c"))
    run(data, tmp_path / "more", config, cache=cache)
    assert read == [3]
    run(data, tmp_path / "uncached", config)
    assert losses(tmp_path / "uncached") == pytest.approx(losses(tmp_path / "more"), abs=1e-3)
    run(data, tmp_path / "other features", small(base, features=("separator",)), cache=cache)
    assert sum(read) > 50


def test_curves_go_to_a_registered_tracker_and_go_on_when_a_run_resumes(
    data, base, tmp_path, monkeypatch, install_extension: InstallExtension
) -> None:
    guide = (Path(__file__).parents[4] / "docs" / "reference" / "extending.md").read_text()
    [example] = re.findall(r"^## A tracker\n.*?^```python\n(.*?)^```", guide, re.M | re.S)
    install_extension("line_tracker", example, TRACKERS)
    config, out = small(base, trackers=("lines",)), tmp_path / "out"
    epochs: list[float] = []
    with pytest.raises(Cancelled):
        train(
            data=data,
            out=out,
            config=config,
            report=lambda progress: epochs.append(1) if progress.message.startswith("epoch") else None,
            cancelled=lambda: bool(epochs),
        )
    run(data, out, config)
    [curves] = set(out.glob("*.jsonl")) - {out / "metrics.jsonl"}  # one, since the id of the run stays
    points = [msgspec.json.decode(line) for line in curves.read_bytes().splitlines()]
    assert [point["loss/epoch"] for point in points if "loss/epoch" in point] == losses(out)
    assert not (out / "tensorboard").exists()


class Broken:
    """A tracker whose server is away after its first figures."""

    def __init__(self, run: TrackedRun) -> None:
        self.logged = 0

    def log(self, values: Mapping[str, float], step: int) -> None:
        self.logged += 1
        if self.logged > 1:
            raise ConnectionError("the server is away")

    def close(self) -> None:
        raise AssertionError("it was dropped")


def test_a_tracker_that_fails_does_not_end_the_run(data, base, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(TRACKERS, "_entries", TRACKERS._entries | {"broken": (0, Broken)})
    manifest, _ = run(data, tmp_path / "out", small(base, trackers=("broken",)))
    assert manifest.notes == ["The tracker broken failed; the run continues without it. Reason: the server is away"]


def test_a_tracker_that_cannot_start_is_refused_by_name_before_any_work(data, base, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr("prm.trackers.find_spec", lambda package: None)
    for name, message in {
        "wandb": "`trackers`: wandb needs the package wandb. Install it: pip install wandb",
        "comet": "no tracker 'comet'.*tensorboard, wandb, mlflow",
    }.items():
        with pytest.raises(DataError, match=message):
            run(data, tmp_path / "out", small(base, trackers=(name,)))
    assert not (tmp_path / "out").exists()


def test_curves_go_to_tensorboard(data, base, tmp_path) -> None:
    from tensorboardX.proto.event_pb2 import Event

    run(data, tmp_path / "out", small(base))
    (file,) = (tmp_path / "out/tensorboard").iterdir()
    raw, tags, place = file.read_bytes(), {}, 0
    while place < len(raw):  # length, its checksum, the event, its checksum
        length = int.from_bytes(raw[place : place + 8], "little")
        event = Event.FromString(raw[place + 12 : place + 12 + length])
        tags |= {value.tag: value.simple_value for value in event.summary.value}
        place += 16 + length
    assert {"loss/step", "loss/epoch", "loss/held", "learning_rate"} <= set(tags)
    assert tags["loss/epoch"] == pytest.approx(losses(tmp_path / "out")[-1], abs=1e-4)
