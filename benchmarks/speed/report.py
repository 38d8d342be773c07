"""The results of a part: medians over rounds and ratios within rounds, as a table and as JSON."""

import os
import platform
import statistics
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec
import torch

from benchmarks.speed.sides import Measured
from prm.files import write_json


class Way(msgspec.Struct):
    """One way of doing the work: `amount` of the report's unit in each of `seconds`, one entry a round.

    `beside` names the way by whose rate this one's is divided, round by round. `core_seconds` are processor time, which
    is more reliable than wall time on a machine with other work.
    """

    name: str
    beside: str
    amount: float
    seconds: list[float] = []
    core_seconds: list[float] = []
    peak_mb: list[float] = []
    own_mb: list[float] = []
    utilisation: list[float] = []

    def add(self, found: Measured) -> None:
        """Add the results of one round."""
        self.seconds.append(found["seconds"])
        self.core_seconds.append(found["core_seconds"])
        self.peak_mb.append(found["peak_mb"])
        self.own_mb.append(found["own_mb"])
        if found.get("utilisation"):
            self.utilisation.append(found["utilisation"])

    @property
    def rate(self) -> float:
        """Amount a second, the median of the rounds."""
        return self.amount / statistics.median(self.seconds)


class Report(msgspec.Struct):
    """The result of a part."""

    title: str
    unit: str
    ways: list[Way]
    machine: dict[str, Any]
    load_before: float
    load_after: float = 0.0

    def table(self) -> str:
        """The table in Markdown, below a line on the machine."""
        lines = [
            self.title,
            f"on {', '.join(f'{name} {value}' for name, value in self.machine.items())}; "
            f"load {self.load_before:.1f} before, {self.load_after:.1f} after",
            "",
            f"| way | {self.unit}/s | ratio (least to most) | by core time | peak memory MB | of it for the work |",
            "|---|---:|---:|---:|---:|---:|",
        ]
        for way in self.ways:
            used = f", {statistics.median(way.utilisation):.0%} utilisation" if way.utilisation else ""
            lines.append(
                f"| {way.name} | {way.rate:,.0f}{used} | {self._ratios(way)} | {max(way.peak_mb):,.0f} "
                f"| {max(way.own_mb):,.0f} |"
            )
        return "\n".join(lines)

    def write(self, path: Path) -> None:
        """Write the results as JSON."""
        write_json(path, self)

    def _ratios(self, way: Way) -> str:
        """The ratios by wall time and by processor time."""
        base = next(other for other in self.ways if other.name == way.beside)
        if base is way:
            return "1 | 1"
        scale = way.amount / base.amount
        clock, core = (
            [scale * theirs / mine for mine, theirs in zip(of_way, of_base, strict=True)]
            for of_way, of_base in ((way.seconds, base.seconds), (way.core_seconds, base.core_seconds))
        )
        return f"{statistics.median(clock):.2f} ({min(clock):.2f} to {max(clock):.2f}) | {statistics.median(core):.2f}"


def in_turns(report: Report, measurements: Sequence[Callable[[], Measured]], rounds: int) -> Report:
    """Measure each way once per round, so that other work on the machine affects all of them."""
    for number in range(rounds):
        for way, measure in zip(report.ways, measurements, strict=True):
            way.add(measure())
            print(
                f"round {number + 1} of {rounds}: {way.name}: {way.amount / way.seconds[-1]:,.0f} {report.unit}/s",
                flush=True,
            )
    report.load_after = load()
    return report


def machine(device: str, threads: int) -> dict[str, Any]:
    """The machine and the versions of the figures."""
    if device == "cuda":
        return {
            "device": torch.cuda.get_device_name(),
            "torch": str(torch.__version__),
            "transformers": version("transformers"),
        }
    return {
        "processor": _processor(),
        "threads": threads,
        "torch": str(torch.__version__),
        "transformers": version("transformers"),
    }


def load() -> float:
    """The load of the last minute, with our own processes."""
    return os.getloadavg()[0]


def _processor() -> str:
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    return names[0].split(":")[1].strip() if names else platform.machine()
