"""Measures a cycle of labelling, submission and claim: its rate, its latency, and processor time by part.

    python -m benchmarks.cycle [--size 20000] [--people 1 16] [--seconds 8] [--rounds 3] [--against CHECKOUT] [--parts]

Starts an embedded PostgreSQL and Redis (durable, as in production), the web processes and the worker of `make run` in a
temporary folder, imports `--size` solutions, and lets annotators claim and submit without pauses: apart, in two
requests, and together, in a submission that claims. CPU is the processor time of the web processes and of PostgreSQL in
a round, divided by its cycles; other work on the machine disturbs it least. `--against` runs another checkout beside
this one on the same servers: each round measures both, in turn.

`--parts` prints another table. It calls the same application in this process and takes a sample of its stack after each
CLOCK_SECONDS of processor time. It also counts the statements of each part, and measures how
long it waits for the database.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from benchmarks.label_studio import clients
from benchmarks.label_studio.bench import AT_ONCE, ROOT, other_database
from benchmarks.label_studio.ours import Stepmark, stepmark
from launch.embedded import servers

PORT = 8460
HEAD = (
    "| pool | annotators | checkout | requests | cycles/s | claim p50 ms | p95 | submit p50 ms | p95 | web ms "
    "| PostgreSQL ms | errors |"
)


class Stage:
    """A running checkout with a project, and the processor time that it has used."""

    def __init__(self, name: str, side: Stepmark, postmaster: int) -> None:
        self.name, self.side = name, side
        self._web, self._postmaster = psutil.Process(side.processes[0]), psutil.Process(postmaster)
        self.project = ""

    @property
    def claims(self) -> bool:
        """Whether a submission can claim; it could not in older checkouts."""
        return "holding" in (self.side.checkout / "annotation" / "api" / "annotations.py").read_text()

    def fill(self, size: int) -> None:
        self.project = self.side.make_project(f"{size}", policy={"queue": {"prefetch_depth": 1}})
        for first in range(0, size, AT_ONCE):
            numbers = range(first, min(size, first + AT_ONCE))
            self.side.take_in(self.project, self.side.content(numbers, labelled=False))
        self.side.open_queue(self.project, size)

    def measure(self, people: int, seconds: float, *, together: bool) -> dict[str, float]:
        web, database = _seconds(self._web), _seconds(self._postmaster)
        loop = clients.work(self.side, self.project, people=people, warm_up=0, seconds=seconds, together=together)
        per = 1000 / loop.cycles
        return {
            "rate": loop.rate, "claim_p50": loop.claim_p50, "claim_p95": loop.claim_p95,
            "submit_p50": loop.submit_p50, "submit_p95": loop.submit_p95,
            "web": per * (_seconds(self._web) - web), "database": per * (_seconds(self._postmaster) - database),
            "failed": loop.failed + loop.twice,
        }  # fmt: skip


def _seconds(root: psutil.Process) -> float:
    """The processor time of a process and its descendants, those that have ended too."""
    used = float(sum(root.cpu_times()[:4]))
    for process in root.children(recursive=True):
        with suppress(psutil.NoSuchProcess):  # its time is then in the next figure of its parent
            used += sum(process.cpu_times()[:2])
    return used


def _line(size: int, people: int, name: str, rounds: list[dict[str, float]], *, together: bool) -> str:
    middle = {key: statistics.median(one[key] for one in rounds) for key in rounds[0]}
    cells = [f"{size:,}", str(people), name, "together" if together else "apart", f"{middle['rate']:.0f}"]
    cells += [f"{middle[key]:.1f}" for key in ("claim_p50", "claim_p95", "submit_p50", "submit_p95")]
    cells += [f"{middle[key]:.2f}" for key in ("web", "database")]
    return f"| {' | '.join(cells)} | {sum(one['failed'] for one in rounds):.0f} |"


def _vacuum(addresses: dict[str, str]) -> None:
    with psycopg.connect(addresses["DATABASE_URL"], autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        connection.execute("CHECKPOINT")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=20_000)
    parser.add_argument("--people", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--against", type=Path)
    parser.add_argument("--parts", action="store_true")
    arguments = parser.parse_args()
    checkouts = {"before": arguments.against.resolve()} if arguments.against else {}
    checkouts["this"] = ROOT

    with tempfile.TemporaryDirectory() as folder, ExitStack() as running:
        root = Path(folder)
        addresses = running.enter_context(servers(root, external={}))
        postmaster = int((root / "postgres" / "postmaster.pid").read_text().split("\n", 1)[0])
        stages = []
        for at, (name, checkout) in enumerate(checkouts.items()):
            with psycopg.connect(addresses["DATABASE_URL"], autocommit=True) as connection:
                connection.execute(f"CREATE DATABASE {name}".encode())
            own = {
                "DATABASE_URL": other_database(addresses["DATABASE_URL"], name),
                "REDIS_URL": addresses["REDIS_URL"].replace("db=0", f"db={at}"),
            }
            most = max(arguments.people)
            side = running.enter_context(
                stepmark(var=root / name, port=PORT + at, addresses=own, people=most, checkout=checkout)
            )
            stages.append(Stage(name, side, postmaster))
            stages[-1].fill(arguments.size)
            _vacuum(own)
        if arguments.parts:
            _print_parts(stages)
            return
        print(f"{HEAD}\n|{'---:|' * HEAD.count(' | ')}---:|", flush=True)
        ways = [(stage, together) for stage in stages for together in (False, True) if not together or stage.claims]
        for people in arguments.people:
            for stage, together in ways:
                stage.measure(people, 1, together=together)  # warm-up
            rounds: dict[Any, list[Any]] = {way: [] for way in ways}
            for _round in range(arguments.rounds):
                for stage, together in ways:
                    rounds[stage, together].append(stage.measure(people, arguments.seconds, together=together))
            for (stage, together), measured in rounds.items():
                print(_line(arguments.size, people, stage.name, measured, together=together), flush=True)


def _print_parts(stages: list[Stage]) -> None:
    for stage in stages:
        environment = os.environ | stage.side.environment | {"DATABASE_POOL": "8"}
        command = [sys.executable, str(ROOT / "benchmarks" / "cycle_parts.py"), stage.project]
        print(f"\n{stage.name}\n", flush=True)
        cwd = stage.side.checkout
        subprocess.run([*command, *stage.side.people[0].split()[1:]], cwd=cwd, env=environment, check=True)


if __name__ == "__main__":
    main()
