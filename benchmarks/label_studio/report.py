"""The table of the results: both sides, their ratio, and the aim."""

import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.label_studio import limits, ours, theirs

MILLION = 1_000_000
EXPLORER_AT_MILLION = 1.5  # of the time at 100,000


class Line(NamedTuple):
    """A figure of a row: its key, its name, whether more is better, and the aim for the size of the pool."""

    row: str
    key: str
    words: str
    more: bool
    aim: Callable[[int], float | str] = lambda size: ""


def _same(aim: float | str) -> Callable[[int], float | str]:
    """This aim at every size."""
    return lambda size: aim


def _explorer(ms: float) -> Callable[[int], float]:
    return lambda size: ms * EXPLORER_AT_MILLION if size >= MILLION else ms


LINES = (
    Line("import", "rate", "import, steps/s", True, _same(90_000)),
    Line("import", "mb", "import, most memory of a process, MB", False, _same("flat")),
    Line("claims-1", "claim_p50", "1 annotator: claim, ms (p50)", False, _same(4)),
    Line("claims-1", "submit_p50", "1 annotator: submit, ms (p50)", False, _same(5)),
    Line("claims-16", "rate", "16 annotators: claim + submit, cycles/s", True, _same(250)),
    Line("claims-16", "claim_p50", "16 annotators: claim, ms (p50)", False),
    Line("claims-16", "claim_p95", "16 annotators: claim, ms (p95)", False, _same(100)),
    Line("claims-16", "submit_p95", "16 annotators: submit, ms (p95)", False),
    Line("together-1", "submit_p50", "1 annotator: submit and claim in one request, ms (p50)", False, _same(9)),
    Line("together-16", "rate", "16 annotators: submit and claim in one request, cycles/s", True, _same(250)),
    Line("together-16", "submit_p95", "16 annotators: submit and claim in one request, ms (p95)", False),
    Line("together-16", "twice", "16 annotators, one request: tasks given out twice", False, _same(0)),
    Line("together-16", "failed", "16 annotators, one request: requests refused", False, _same(0)),
    Line("claims-16", "twice", "16 annotators: tasks given out twice", False, _same(0)),
    Line("claims-16", "failed", "16 annotators: requests refused", False, _same(0)),
    Line("export", "rate", "export, solutions/s", True, _same(10_000)),
    Line("export", "mb", "export, most memory of a process, MB", False, _same(150)),
    Line("scoring", "share", "scoring, 64 clients: share of what the model alone scores, %", True, _same(80)),
    Line("scoring", "rate", "scoring, 64 clients: solutions/s", True),
    Line("scoring", "tail", "scoring, 64 clients: p95 / mean", False, _same(2)),
    Line("scoring", "one", "scoring, 1 client: solutions/s", True),
    Line("pages", "search", "list of solutions: slowest of five searches, ms", False, _explorer(150)),
    Line("pages", "late", "list of solutions: page 1,500, ms", False, _explorer(150)),
    Line("pages", "file", "list of solutions: file of all rows, s", False, lambda size: size / 20_000),
    Line("pages", "overview", "overview, ms to the first byte", False, _same(200)),
    Line("pages", "quality", "quality, ms", False, _same(200)),
    Line("pages", "generations", "generations, ms", False, _same(200)),
    Line("pages", "members", "members, ms", False, _same(200)),
    Line("pages", "over", "pages and views of lists over 200 ms", False, _same(0)),
    Line("order", "same", "4 people by model score: most served the same task", False, _same(1)),
    Line("order", "places", "4 people, uncertainty first: places served", False, _same("1, 2, 3, 4")),
    Line("deletion", "status", "a member deletes another's project: status", False, _same("403")),
)


def table(measured: Mapping[str, Mapping[str, Any]]) -> str:
    """The table in Markdown, by row and size."""
    rows = ["| work | pool | Label Studio | Stepmark | ratio | aim | reached |", f"|---|{'---:|' * 6}"]
    for line in LINES:
        for size in sorted({int(name.split("/")[1]) for name in measured if name.split("/")[0] == line.row}):
            # Their page has no single request for both.
            apart = line._replace(row=line.row.replace("together", "claims")) if line.key == "rate" else line
            mine, other = _found(measured, line, size, ours.NAME), _found(measured, apart, size, theirs.NAME)
            aim = line.aim(size)
            cells = (f"{size:,}" if size else "", _text(other), _text(mine), _ratio(line, mine, other), _text(aim))
            rows.append(f"| {line.words} | {' | '.join(cells)} | {_reached(line, mine, aim)} |")
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


def _reached(line: Line, mine: Any, aim: float | str) -> str:
    """Yes, or the share of the aim that is reached."""
    if mine is None or isinstance(aim, str):
        return ""
    if mine >= aim if line.more else mine <= aim:
        return "yes"
    return f"{mine / aim if line.more else aim / mine:.0%}"


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,.0f}" if isinstance(value, int) or value >= 100 else f"{value:,.1f}"
