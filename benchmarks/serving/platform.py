"""The platform of the benchmark: embedded servers, a project with a trained model, web and worker."""

import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

from launch.embedded import servers
from launch.options import Options
from launch.ownership import sole_owner
from launch.supervision import Program, prepared_file, programs
from launch.tether import tethered

ROOT = Path(__file__).resolve().parents[2]
SEATS = 32  # as many as a web process has threads, so that no client is rejected
TRAINED_ON, CALIBRATED_ON = 200, 60


@contextmanager
def prepared(folder: Path, port: int) -> Iterator[tuple[Options, str]]:
    """Run the servers, migrate, and create a served project; gives the options and the secret of a token."""
    folder.mkdir(parents=True, exist_ok=True)
    with sole_owner(folder), servers(folder, external={}, durable=False) as addresses:
        os.environ.update(
            addresses, VAR_DIR=str(folder), DJANGO_SETTINGS_MODULE="config.settings.local", SERVING_SEATS=str(SEATS)
        )
        subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, check=True)
        yield Options("127.0.0.1", port, folder, dict(addresses)), _served(folder)


@dataclass(frozen=True)
class Platform:
    """Running web and worker; `parts` is the folder where the clocks write, if they were asked for."""

    address: str
    processes: dict[str, psutil.Process]
    parts: Path | None

    def used(self) -> dict[str, float]:
        """Milliseconds of processor time by process, and of each part: processor time and time, since the start."""
        used = {name: 1000 * _seconds(process) for name, process in self.processes.items()}
        for file in self.parts.glob("*.json") if self.parts else ():
            for part, (worked, took, _calls) in json.loads(file.read_bytes()).items():
                used[f"cpu {part}"] = used.get(f"cpu {part}", 0.0) + 1000 * worked
                used[f"all {part}"] = used.get(f"all {part}", 0.0) + 1000 * took
        return used


@contextmanager
def running(options: Options, *, batch: int, checkout: Path = ROOT, by_part: bool = False) -> Iterator[Platform]:
    """Run a checkout's web and score worker, with batches of at most `batch`, until they answer."""
    (options.var / "run" / "prometheus").mkdir(parents=True, exist_ok=True)
    prepared_file(options).touch()
    with tempfile.TemporaryDirectory() as folder:
        parts = Path(folder) if by_part else None
        started = {
            program.name: _start(program, options.var, batch, checkout, parts)
            for program in programs(options)
            if program.name in ("web", "score")
        }
        processes = {name: psutil.Process(process.pid) for name, process in started.items()}
        processes |= {"clients": psutil.Process(), **_servers(options.var)}
        try:
            _await(f"{options.address}healthz")
            yield Platform(options.address, processes, parts)
        finally:
            for process in started.values():
                process.terminate()
            for process in started.values():
                process.wait(60)


def score_alone(folder: Path, seconds: float) -> dict[int, float]:
    """How many solutions a second the served model scores without a platform, by the number of threads."""
    command = [sys.executable, "-m", "benchmarks.serving.offline", str(folder / "models" / "served"), str(seconds)]
    rates = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    return {int(threads): rate for threads, rate in rates.items()}


def _servers(folder: Path) -> dict[str, psutil.Process]:
    postmaster = (folder / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0]
    redis = next(each for each in psutil.Process().children(recursive=True) if "redis-server" in each.name())
    return {"PostgreSQL": psutil.Process(int(postmaster)), "Redis": redis}


def _seconds(root: psutil.Process) -> float:
    """The processor time of a process; except for this one, with its descendants."""
    of_all = [root, *(root.children(recursive=True) if root.pid != os.getpid() else ())]
    return sum(
        sum(process.cpu_times()[:4] if process == root != psutil.Process() else process.cpu_times()[:2])
        for process in of_all
    )


def _start(program: Program, folder: Path, batch: int, checkout: Path, parts: Path | None) -> subprocess.Popen[bytes]:
    python, _, module, *arguments = program.command
    python = python.replace(str(ROOT), str(checkout))
    command = [python, "-m", module, *arguments]
    if parts:
        command = [python, str(ROOT / "benchmarks" / "serving" / "parts.py"), str(parts), module, *arguments]
    with open(folder / f"{program.name}.log", "ab") as log:
        return subprocess.Popen(
            tethered(command),
            cwd=checkout,
            env=os.environ | program.environment | {"SERVING_BATCH": str(batch), "AWAITED_WORKERS": ""},
            stdout=log,
            stderr=log,
        )


def _await(address: str) -> None:
    for _ in range(600):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"{address} does not answer")


def _served(folder: Path) -> str:
    """Train on the sandbox, promote the model, and issue a token; returns its secret."""
    import django

    django.setup()
    from django.contrib.auth.models import User
    from django.utils import timezone

    from annotation.core.membership.projects import create_project
    from annotation.core.membership.tokens import issue_token
    from annotation.loop import registry
    from annotation.loop.gateway.training import read_manifest
    from annotation.models import ModelVersion, Project
    from prm.config import TrainConfig
    from prm.processes import use_half_the_cores
    from prm.sandbox.world import WorldConfig, generate
    from prm.traces import write_traces
    from prm.training import train
    from prm.vocabulary import Split

    user, _ = User.objects.get_or_create(username="benchmark", defaults={"is_staff": True})
    if not Project.objects.filter(slug="served").exists():
        parts: tuple[tuple[Split, int], ...] = (("pool", TRAINED_ON), ("calibration", CALIBRATED_ON))
        write_traces(
            folder / "train.jsonl",
            (trace for split, n in parts for trace in generate(WorldConfig(), split=split, n=n, seed=0)),
        )
        out = folder / "models" / "served"
        use_half_the_cores()
        train(data=folder / "train.jsonl", out=out, config=TrainConfig(), report=lambda progress: None)
        manifest, sha256 = read_manifest(out)
        project = create_project(by=user, name="Served", slug="served")
        version = ModelVersion.objects.create(
            project=project, number=1, path="served", sha256=sha256, manifest=manifest, confirmed_at=timezone.now()
        )
        registry.crown(by=None, version=version, reason="benchmark")
    _, secret = issue_token(by=user, name="benchmark")
    return secret


def score_pool(solutions: int) -> None:
    """Fill the project's pool with sandbox solutions, and enqueue its scoring."""
    from annotation.files.record_import import import_records
    from annotation.loop.gateway.sandbox import Sandbox
    from annotation.loop.pool.scoring import begin_scoring
    from annotation.models import ModelVersion, Project

    project = Project.objects.get(slug="served")
    import_records(project=project, records=Sandbox(solutions=solutions, seed=1).records(), by=None)
    begin_scoring(ModelVersion.objects.get(project=project))


def unscored() -> int:
    """How many solutions of the pool have no score yet."""
    from annotation.models import PoolScoring

    return PoolScoring.objects.get(project__slug="served").left
