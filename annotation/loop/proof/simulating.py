"""The body of a simulation: a watched subprocess that resumes where an earlier one stopped."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import msgspec

from annotation.core import storage
from annotation.core.errors import DomainError
from annotation.core.lifecycle import beat, run_job, save_progress
from annotation.labels.datasets.snapshots import read_graded, read_snapshot
from annotation.loop.gateway.traces import write_settled_traces
from annotation.loop.gateway.training import shadow_config
from annotation.loop.processes.devices import give_way, training_slot
from annotation.loop.processes.watched import ProcessFailed, ProcessStalled, prm_command, watch
from annotation.loop.proof.simulations import LEAST_BUDGET
from annotation.models import SimulationRun
from prm.messages import Message
from prm.vocabulary import SPLITS

REPORT, PICTURE, CONFIG = "report.json", "curves.svg", "train.json"
STEPS = 5  # retrainings from the first budget to the last
# A line of the library's `simulate`; with noise 0 it uses the labels of the snapshot unchanged.
PROGRESS = re.compile(r"(\d+) of (\d+): \w+, noise 0, (.*)")


def simulation_key(simulation: SimulationRun) -> str:
    return f"runs/simulation-{simulation.pk}"


def folder_of(simulation: SimulationRun) -> Path:
    """The folder of a simulation's finished parts, which all workers share. Raises as `storage.fetch`."""
    return storage.fetch(simulation_key(simulation))


def run_simulation(simulation_id: int) -> None:
    """Run or resume a simulation to its end. Does nothing if it has ended or another worker has it."""
    run_job(SimulationRun, simulation_id, _simulate)


def _simulate(simulation: SimulationRun) -> None:
    with storage.publishing(simulation_key(simulation)) as publish_soon:
        _simulate_in(folder_of(simulation), simulation, publish_soon)


def _simulate_in(folder: Path, simulation: SimulationRun, publish_soon: Callable[[], None]) -> None:
    def tick() -> None:
        beat(simulation)
        publish_soon()
        give_way()

    def read_line(line: str) -> None:
        if progress := PROGRESS.match(line):
            done, of, simulation.message = progress.groups()
            simulation.progress = int(done) / max(int(of), 1)
            save_progress(simulation, "progress", "message")
        elif line.strip() and "\t" not in line and "|" not in line:
            beat(simulation, message=line.strip())

    tick()
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "snapshot.jsonl"
    beat(simulation, message=Message("reading_snapshot"))
    snapshot = simulation.snapshot
    settled = write_settled_traces(read_snapshot(snapshot), data, graded=read_graded(snapshot))
    budget = min(simulation.budget, settled["pool"])
    if budget < LEAST_BUDGET or not settled["calibration"] or not settled["holdout"]:
        raise DomainError(
            Message("too_few_known", least=LEAST_BUDGET, **{split: settled[split] for split in SPLITS}),
        )
    try:
        with training_slot(on_wait=tick) as devices:
            watch(
                _command(simulation, data, folder, budget=budget, candidates=settled["pool"], devices=devices),
                log=folder / "simulation.log",
                on_tick=tick,
                on_line=read_line,
            )
    except (ProcessFailed, ProcessStalled) as error:
        raise DomainError(Message("simulation_failed", error=error)) from error
    simulation.result, simulation.progress = json.loads((folder / REPORT).read_bytes()), 1.0
    save_progress(simulation, "result", "progress")


def _command(
    simulation: SimulationRun, data: Path, out: Path, *, budget: int, candidates: int, devices: str
) -> list[str]:
    config = shadow_config(simulation.project.policies, seed=0)
    config_file = out / CONFIG
    config_file.write_bytes(msgspec.json.encode(config))
    words = ["simulate", "--data", str(data), "--out", str(out), "--functions", ",".join(simulation.functions)]
    words += ["--seeds", str(simulation.seeds), "--processes", "1", "--candidates", str(candidates)]
    words += ["--noise", "0", "--budgets", ",".join(map(str, budgets_up_to(budget)))]
    return prm_command(*words, "--config", str(config_file), devices=devices)


def budgets_up_to(last: int) -> list[int]:
    """Labelled solutions at each retraining: from a fifth of the `last`, each larger by the same factor."""
    first = max(last // 5, LEAST_BUDGET // 2)
    budgets = [round(first * (last / first) ** (step / (STEPS - 1))) for step in range(STEPS)]
    return sorted(set(budgets))
