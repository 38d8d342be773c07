"""Measures how long `make run` takes until the address is printed and until all workers are ready.

python -m benchmarks.start             first and second start of a data folder, quiet and beside a busy loop
python -m benchmarks.start --clone     also from a fresh clone, downloads included
python -m benchmarks.start --runs 5

Each is measured three times. The first start creates the database and the demo project. Run it on a machine that
does nothing else.
"""

import argparse
import os
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from launch.options import BASE_DIR

MOMENTS = {"address": "Stepmark is at", "workers": "The workers are ready"}
RUN = (sys.executable, "-m", "launch", "run")


def start(command: Sequence[str], folder: Path, var: Path) -> dict[str, float]:
    """Start Stepmark, wait until it is ready and stop it; returns the seconds to each moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    environment = os.environ | {"VAR_DIR": str(var), "PORT": str(port), "DATABASE_URL": "", "REDIS_URL": ""}
    begun, seconds = time.monotonic(), dict[str, float]()
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            seconds |= {name: time.monotonic() - begun for name, words in MOMENTS.items() if words in line}
            if len(seconds) == len(MOMENTS):
                process.send_signal(signal.SIGTERM)
    if len(seconds) < len(MOMENTS):
        sys.exit(f"The start in {folder} failed: its error is above.")
    return seconds


@contextmanager
def busy_loop() -> Iterator[None]:
    """A process that computes without end."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        try:
            yield
        finally:
            process.kill()


def measure(runs: int) -> Iterator[tuple[str, dict[str, float]]]:
    """The seconds of the first and second start of each data folder."""
    for _ in range(runs):
        with tempfile.TemporaryDirectory(prefix="stepmark-start-") as folder:
            for name in ("first", "second"):
                yield name, start(RUN, BASE_DIR, Path(folder) / "var")


def measure_clone() -> dict[str, float]:
    """The seconds of `make run` in a fresh clone."""
    with tempfile.TemporaryDirectory(prefix="stepmark-start-") as folder:
        clone = Path(folder) / "stepmark"
        subprocess.run(["git", "clone", "--quiet", str(BASE_DIR), str(clone)], check=True)
        return start(["make", "run"], clone, clone / "var")


def report(name: str, taken: Sequence[dict[str, float]]) -> None:
    """One row: the median and range of each moment."""
    cells = [[seconds[moment] for seconds in taken] for moment in MOMENTS]
    row = [f"{statistics.median(cell):.1f} s ({min(cell):.1f} to {max(cell):.1f})" for cell in cells]
    print(f"| {name} | {' | '.join(row)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--clone", action="store_true", help="also from a fresh clone")
    options = parser.parse_args()
    print(f"| start | {' | '.join(MOMENTS)} |\n|---|---|---|", flush=True)
    quiet = list(measure(options.runs))
    with busy_loop():
        busy = list(measure(options.runs))
    for beside, taken in (("quiet", quiet), ("beside a busy loop", busy)):
        for kind in ("first", "second"):
            report(f"{kind}, {beside}", [seconds for name, seconds in taken if name == kind])
    if options.clone:
        report("from a clone, quiet", [measure_clone()])


if __name__ == "__main__":
    main()
