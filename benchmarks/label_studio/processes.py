"""The processes of the benchmark: runs them during a block, and measures their peak memory."""

import os
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import psutil

from launch.tether import tethered

STOP_SECONDS = 60
LOOK_SECONDS = 0.2


@contextmanager
def running(
    commands: Mapping[str, Sequence[str]], *, cwd: Path, environment: Mapping[str, str], logs: Path
) -> Iterator[list[int]]:
    """Run the commands as processes, each with a log under its name; gives their ids."""
    logs.mkdir(parents=True, exist_ok=True)
    started = []
    try:
        for name, command in commands.items():
            with (logs / f"{name}.log").open("ab") as log:
                started.append(
                    subprocess.Popen(tethered(list(command)), cwd=cwd, env=dict(environment), stdout=log, stderr=log)
                )
        yield [process.pid for process in started]
    finally:
        for process in started:
            process.terminate()
        for process in started:
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


class Memory:
    """The largest peak memory, in MB, of a process or one of its children during the block."""

    def __init__(self, roots: Sequence[int]) -> None:
        self._roots, self._ended, self.peak_mb = roots, threading.Event(), 0.0

    def __enter__(self) -> "Memory":
        for process in self._processes():
            (Path("/proc") / str(process) / "clear_refs").write_text("5")  # resets its peak
        self._watch = threading.Thread(target=self._look, daemon=True)
        self._watch.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._watch.join()

    def _look(self) -> None:
        while True:
            last = self._ended.wait(LOOK_SECONDS)
            self.peak_mb = max([self.peak_mb, *map(_peak_mb, self._processes())])
            if last:
                return

    def _processes(self) -> list[int]:
        found = list(self._roots)
        for root in self._roots:
            try:
                found += [child.pid for child in psutil.Process(root).children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
        return found


def _peak_mb(process: int) -> float:
    """A process's peak by the kernel's count; 0 for one that has ended."""
    try:
        lines = (Path("/proc") / str(process) / "status").read_text().splitlines()
    except OSError:
        return 0.0
    return max((int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM:")), default=0.0)


def inherited(more: Mapping[str, str]) -> dict[str, str]:
    """This process's environment with some variables set."""
    return {**os.environ, **more}
