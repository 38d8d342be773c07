"""The table of the results: both sides, their ratio, and the aim."""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.label_studio import limits, ours, theirs


class Line(NamedTuple):
    """A figure of a row: its key, its name, whether more is better, and the aim."""

    row: str
    key: str
    words: str
    more: bool
    aim: str


LINES = (
    Line("import", "rate", "import, steps/s", True, "3x"),
    Line("import", "mb", "import, most memory of a process, MB", False, "flat"),
    Line("claims-1", "claim_p50", "1 annotator: claim, ms (p50)", False, "10x"),
    Line("claims-1", "submit_p50", "1 annotator: submit, ms (p50)", False, "10x"),
    Line("claims-16", "rate", "16 annotators: claim + submit, cycles/s", True, "25x"),
    Line("claims-16", "claim_p50", "16 annotators: claim, ms (p50)", False, ""),
    Line("claims-16", "claim_p95", "16 annotators: claim, ms (p95)", False, "flat to 1M"),
    Line("claims-16", "submit_p95", "16 annotators: submit, ms (p95)", False, ""),
    Line("together-1", "submit_p50", "1 annotator: submit and claim in one request, ms (p50)", False, ""),
    Line("together-16", "rate", "16 annotators: submit and claim in one request, cycles/s", True, "25x"),
    Line("together-16", "submit_p95", "16 annotators: submit and claim in one request, ms (p95)", False, "flat to 1M"),
    Line("together-16", "twice", "16 annotators, one request: tasks given out twice", False, "0"),
    Line("together-16", "failed", "16 annotators, one request: requests refused", False, "0"),
    Line("claims-16", "twice", "16 annotators: tasks given out twice", False, "0"),
    Line("claims-16", "failed", "16 annotators: requests refused", False, "0"),
    Line("export", "rate", "export, solutions/s", True, "20x"),
    Line("export", "mb", "export, most memory of a process, MB", False, "below 150"),
    Line("order", "same", "4 people by model score: most served the same task", False, "1"),
    Line("order", "places", "4 people, uncertainty first: places served", False, "1, 2, 3, 4"),
    Line("deletion", "status", "a member deletes another's project: status", False, "403"),
)


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """The table in Markdown, by row and size."""
    rows = ["| work | pool | Label Studio | Stepmark | ratio | aim |", "|---|---:|---:|---:|---:|---:|"]
    for line in LINES:
        for size in sorted({int(name.split("/")[1]) for name in measured if name.split("/")[0] == line.row}):
            # Their page has no single request for both.
            apart = line._replace(row=line.row.replace("together", "claims")) if line.key == "rate" else line
            mine, other = _found(measured, line, size, ours.NAME), _found(measured, apart, size, theirs.NAME)
            pool = f"{size:,}" if size else ""
            rows.append(
                f"| {line.words} | {pool} | {_text(other)} | {_text(mine)} | {_ratio(line, mine, other)} | {line.aim} |"
            )
    return "\n".join([*rows, "", *_limits(measured)])


def machine() -> str:
    """The machine and the versions of the figures."""
    names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
    processor = names[0].split(":")[1].strip() if names else platform.machine()
    return (
        f"{len(os.sched_getaffinity(0))} cores ({processor}), load {os.getloadavg()[0]:.1f}; Label Studio: gunicorn, "
        f"{theirs.WORKERS} workers of {theirs.THREADS} threads; Stepmark: gunicorn, {ours.WORKERS} workers of "
        f"{ours.THREADS} threads; one PostgreSQL and one Redis for both"
    )


def _limits(measured: Mapping[str, Mapping[str, Any]]) -> list[str]:
    raw = {
        name.split("/")[0]: (int(name.split("/")[1]), found) for name, found in measured.items() if limits.NAME in name
    }
    beside = {
        "limit-copy": ("COPY of the steps, steps/s", "import", "rate"),
        "limit-claims": ("SKIP LOCKED loop of 8 processes, claims/s", "claims-16", "rate"),
        "limit-cursor": ("a cursor read to a file, solutions/s", "export", "rate"),
    }
    rows = ["| the database alone | | Stepmark | share |", "|---|---:|---:|---:|"]
    for row, (words, other, key) in beside.items():
        if row in raw:
            size, found = raw[row]
            mine = measured.get(f"{other}/{size}/{ours.NAME}", {}).get(key)
            share = f"{mine / found[key]:.0%}" if mine else ""
            rows.append(f"| {words} | {_text(found[key])} | {_text(mine)} | {share} |")
    return rows if raw else []


def _found(measured: Mapping[str, Mapping[str, Any]], line: Line, size: int, side: str) -> Any:
    return measured.get(f"{line.row}/{size}/{side}", {}).get(line.key)


def _ratio(line: Line, mine: Any, other: Any) -> str:
    if not isinstance(mine, float) or not isinstance(other, float) or not mine or not other:
        return ""
    return f"{mine / other if line.more else other / mine:.1f}x"


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,.0f}" if isinstance(value, int) or value >= 100 else f"{value:,.1f}"
