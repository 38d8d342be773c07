"""The body of a simulation: a watched process that goes on where it was stopped."""

import json
import re
from pathlib import Path

from django.conf import settings

from annotation.core.errors import DomainError
from annotation.core.lifecycle import beat, run_job, save_progress
from annotation.core.membership.backbones import check_backbone
from annotation.labels.datasets.snapshots import read_snapshot
from annotation.loop.gateway.traces import write_known_traces
from annotation.loop.processes.devices import give_way, training_slot
from annotation.loop.processes.watched import ProcessFailed, ProcessStalled, prm_command, watch
from annotation.loop.proof.simulations import LEAST_BUDGET
from annotation.models import SimulationRun
from prm.messages import Message
from prm.vocabulary import SPLITS

REPORT, PICTURE = "report.json", "curves.svg"
STEPS = 5  # retrainings from the first budget to the last
PROGRESS = re.compile(r"(\d+) of (\d+): \w+, noise 0, (.*)")  # the world is the snapshot, its labels are as they are


def folder_of(simulation: SimulationRun) -> Path:
    """Where a simulation keeps what it has finished; every worker sees the same one."""
    path: Path = settings.RUN_ROOT / f"simulation-{simulation.pk}"
    return path


def run_simulation(simulation_id: int) -> None:
    """Simulate to the end, or go on with it; does nothing where it is over, or another worker is at it."""
    run_job(SimulationRun, simulation_id, _simulate)


def _simulate(simulation: SimulationRun) -> None:
    def tick() -> None:
        beat(simulation)
        give_way()

    def read_line(line: str) -> None:
        if progress := PROGRESS.match(line):
            done, of, simulation.message = progress.groups()
            simulation.progress = int(done) / max(int(of), 1)
            save_progress(simulation, "progress", "message")
        elif line.strip() and "\t" not in line and "|" not in line:
            beat(simulation, message=line.strip())

    tick()
    folder = folder_of(simulation)
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "snapshot.jsonl"
    beat(simulation, message=Message("reading_snapshot"))
    known = write_known_traces(read_snapshot(simulation.snapshot), data)
    budget = min(simulation.budget, known["pool"])
    if budget < LEAST_BUDGET or not known["calibration"] or not known["holdout"]:
        raise DomainError(
            Message("too_few_known", least=LEAST_BUDGET, **{use: known[use] for use in SPLITS}),
        )
    try:
        with training_slot(on_wait=tick) as devices:
            watch(
                _command(simulation, data, folder, budget=budget, candidates=known["pool"], devices=devices),
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
    check_backbone(simulation.project.policies.backbone)
    words = ["simulate", "--data", str(data), "--out", str(out), "--functions", ",".join(simulation.functions)]
    words += ["--seeds", str(simulation.seeds), "--noise", "0", "--processes", "1", "--candidates", str(candidates)]
    words += ["--budgets", ",".join(map(str, budgets_up_to(budget)))]
    return prm_command(*words, "--base", simulation.project.policies.backbone, devices=devices)


def budgets_up_to(last: int) -> list[int]:
    """Labelled solutions at each retraining: a fifth of the last one first, each larger by the same factor."""
    first = max(last // 5, LEAST_BUDGET // 2)
    budgets = [round(first * (last / first) ** (step / (STEPS - 1))) for step in range(STEPS)]
    return sorted(set(budgets))
