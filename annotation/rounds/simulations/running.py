"""The body of a simulation: a watched process that goes on where it was stopped, and its sweep."""

import json
import logging
import re
import time
from datetime import timedelta
from pathlib import Path

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.db.models import Q
from django.utils import timezone

from annotation import audit, jobs
from annotation.datasets.snapshots import read_snapshot
from annotation.errors import DomainError
from annotation.models import SimulationRun
from annotation.rounds.devices import training_slot
from annotation.rounds.gateway.traces import write_known_traces
from annotation.rounds.lock import SIMULATIONS, Lock, LockLost, advisory_lock
from annotation.rounds.precedence import GaveWay, round_waits
from annotation.rounds.simulations.requests import LEAST_BUDGET, TASK
from annotation.rounds.watched import ProcessFailed, ProcessStalled, prm_command, watch
from annotation.rounds.work import BEAT_SECONDS, RunCancelled

log = logging.getLogger(__name__)

MAX_ATTEMPTS = 3
STALLED_AFTER = timedelta(seconds=60)
REPORT, PICTURE = "report.json", "curves.svg"
STEPS = 5  # retrainings from the first budget to the last
PROGRESS = re.compile(r"(\d+) of (\d+): \w+, noise 0, (.*)")  # the world is the snapshot, its labels are as they are
State = SimulationRun.State


def folder_of(simulation: SimulationRun) -> Path:
    """Where a simulation keeps what it has finished; every worker sees the same one."""
    path: Path = settings.RUN_ROOT / f"simulation-{simulation.pk}"
    return path


def run_simulation(simulation_id: int) -> None:
    """Simulate to the end, or go on with it; does nothing where it is over, another worker is at it, or a round waits.

    What goes wrong ends it as failed and says why; a lost database leaves it to the sweep.
    """
    simulation = SimulationRun.objects.select_related("project", "snapshot").get(pk=simulation_id)
    with advisory_lock(SIMULATIONS, simulation.project_id) as lock:
        if lock is None:
            return
        simulation.refresh_from_db()
        if simulation.state not in SimulationRun.LIVE or not _may_go_on(simulation) or round_waits():
            return
        _begin(simulation)
        try:
            _simulate(simulation, _Watch(simulation, lock))
        except RunCancelled:
            _end(simulation, State.CANCELLED)
        except GaveWay:
            _give_way(simulation)
        except (LockLost, OperationalError, InterfaceError):
            raise
        except DomainError as error:
            _end(simulation, State.FAILED, error.message)
        except Exception as error:
            log.exception("Simulation %s failed", simulation.pk)
            _end(simulation, State.FAILED, f"{type(error).__name__}: {error}")
        else:
            _end(simulation, State.SUCCEEDED)


def sweep_simulations() -> int:
    """Ask again for the simulations whose worker is gone; returns how many."""
    old = timezone.now() - STALLED_AFTER
    stalled = SimulationRun.objects.filter(state__in=SimulationRun.LIVE).filter(
        Q(heartbeat_at__lt=old) | Q(heartbeat_at__isnull=True, created_at__lt=old)
    )
    found = 0
    for simulation in stalled:
        with advisory_lock(SIMULATIONS, simulation.project_id) as lock:
            if lock is None:
                continue
        SimulationRun.objects.filter(pk=simulation.pk).update(heartbeat_at=timezone.now())
        jobs.enqueue(TASK, simulation.pk, queue="gpu")
        found += 1
    return found


class _Watch:
    """Keeps the row up to date while the process runs; raises where it is called off or a round needs the worker."""

    def __init__(self, simulation: SimulationRun, lock: Lock) -> None:
        self.rows = SimulationRun.objects.filter(pk=simulation.pk)
        self.lock = lock
        self.beaten_at = 0.0

    def tick(self) -> None:
        if time.monotonic() - self.beaten_at < BEAT_SECONDS:
            return
        self.beaten_at = time.monotonic()
        self.lock.check()
        self.rows.update(heartbeat_at=timezone.now())
        if self.rows.filter(cancel_requested=True).exists():
            raise RunCancelled
        if round_waits():
            raise GaveWay

    def hear(self, line: str) -> None:
        if told := PROGRESS.match(line):
            self.rows.update(progress=int(told[1]) / max(int(told[2]), 1), message=told[3][:300])
        elif line.strip() and "\t" not in line and "|" not in line:
            self.rows.update(message=line.strip()[:300])


def _simulate(simulation: SimulationRun, watching: _Watch) -> None:
    folder = folder_of(simulation)
    folder.mkdir(parents=True, exist_ok=True)
    data = folder / "snapshot.jsonl"
    watching.hear("Reading the snapshot.")
    known = write_known_traces(read_snapshot(simulation.snapshot), data)
    budget = min(simulation.budget, known["pool"])
    if budget < LEAST_BUDGET or not known["calibration"] or not known["holdout"]:
        raise DomainError(
            "too_few_known",
            f"The first error is known of {known['pool']} pool, {known['calibration']} calibration and "
            f"{known['holdout']} holdout solutions; a simulation needs {LEAST_BUDGET} of the pool and some of each.",
        )
    try:
        with training_slot(on_wait=watching.tick) as devices:
            watch(
                _command(simulation, data, folder, budget=budget, candidates=known["pool"], devices=devices),
                log=folder / "simulation.log",
                on_tick=watching.tick,
                on_line=watching.hear,
            )
    except (ProcessFailed, ProcessStalled) as error:
        raise DomainError("simulation_failed", f"The simulation ended: {error}.") from error
    simulation.result = json.loads((folder / REPORT).read_bytes())


def _command(
    simulation: SimulationRun, data: Path, out: Path, *, budget: int, candidates: int, devices: str
) -> list[str]:
    words = ["simulate", "--data", str(data), "--out", str(out), "--functions", ",".join(simulation.functions)]
    words += ["--seeds", str(simulation.seeds), "--noise", "0", "--processes", "1", "--candidates", str(candidates)]
    words += ["--budgets", ",".join(map(str, budgets_up_to(budget)))]
    return prm_command(*words, "--base", simulation.project.policies.backbone, devices=devices)


def budgets_up_to(last: int) -> list[int]:
    """Labelled solutions at each retraining: a fifth of the last one first, each larger by the same factor."""
    first = max(last // 5, LEAST_BUDGET // 2)
    found = [round(first * (last / first) ** (step / (STEPS - 1))) for step in range(STEPS)]
    return sorted(set(found))


def _may_go_on(simulation: SimulationRun) -> bool:
    if simulation.cancel_requested:
        _end(simulation, State.CANCELLED)
    elif simulation.attempts >= MAX_ATTEMPTS:
        _end(simulation, State.FAILED, f"Its worker died {simulation.attempts} times. Look at the machine's memory.")
    else:
        return True
    return False


def _begin(simulation: SimulationRun) -> None:
    now = timezone.now()
    simulation.state, simulation.heartbeat_at, simulation.started_at = State.RUNNING, now, simulation.started_at or now
    simulation.attempts += 1
    simulation.save(update_fields=["state", "heartbeat_at", "started_at", "attempts"])


def _give_way(simulation: SimulationRun) -> None:
    """Back into the queue, where the sweep finds it: that was no attempt that failed."""
    simulation.state, simulation.heartbeat_at = State.QUEUED, timezone.now()
    simulation.message, simulation.attempts = "A round has the worker; this goes on when it is free.", 0
    simulation.save(update_fields=["state", "heartbeat_at", "message", "attempts"])


def _end(simulation: SimulationRun, state: str, error: str = "") -> None:
    simulation.state, simulation.error, simulation.finished_at = state, error, timezone.now()
    fields = ["state", "error", "finished_at", "result"]
    if state == State.SUCCEEDED:
        simulation.progress = 1.0
        fields.append("progress")
    simulation.save(update_fields=fields)
    audit.record(
        by=None,
        action=f"simulation.{state}",
        target=simulation,
        project=simulation.project,
        after={"state": state, "error": error},
    )
