"""The rows of the table, each measured at the requested sizes."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.label_studio import limits, ours
from benchmarks.label_studio.bench import FOLDER, ROOT, Bench, Figures
from benchmarks.label_studio.processes import Memory
from benchmarks.label_studio.solutions import score
from benchmarks.label_studio.web import Door
from benchmarks.label_studio.work import Side
from benchmarks.pages import LATE_PAGE, SEARCHES

RANKED = 2000
LARGE = 100_000  # solutions: the smallest pool whose pages are measured
MANAGED = ("quality", "generations", "members")
ONE_AFTER_ANOTHER = 4


def imports(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """Imported steps a second, upload included, and the largest memory of a process."""
    for size in sizes:
        for side in (bench.theirs, bench.ours):
            if f"import/{size}/{side.name}" not in bench.measured:
                bench.pool(side, size)


def claims(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """Claim and submit in a closed loop, by one annotator and by sixteen; our page does both in one request."""
    for size in [*sizes, *ours_only]:
        for side in (bench.theirs, bench.ours) if size in sizes else (bench.ours,):
            for people in (1, 16):
                bench.note(f"claims-{people}", size, side.name, lambda s=side, n=size, p=people: bench.loop(s, n, p))
        for people in (1, 16):
            loop = partial(bench.loop, bench.ours, size, people, together=True)
            bench.note(f"together-{people}", size, bench.ours.name, loop)


def exports(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """Exported solutions a second, from the request to the last byte, and the largest memory of a process."""
    for size in sizes:
        for side in (bench.theirs, bench.ours):
            bench.note("export", size, side.name, lambda s=side, n=size: _export(bench, s, n))


def serving_order(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """The tasks that people get who work at the same time in the order of a model's scores."""
    bench.note("order", RANKED, bench.theirs.name, lambda: _their_order(bench))
    bench.note("order", RANKED, bench.ours.name, lambda: _our_order(bench))


def deletion(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """The response when a plain member deletes the project."""
    for side in (bench.theirs, bench.ours):
        bench.note("deletion", 0, side.name, lambda s=side: {"status": s.delete_as_member(s.make_project("Another's"))})


def scoring(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """Online scoring by 1 and by 64 clients, beside what the model alone scores: `benchmarks.serving`."""
    bench.note("scoring", 0, ours.NAME, _scoring)


def pages(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """The list of solutions and the manager's pages in a large project: `benchmarks.pages`."""
    for size in [*sizes, *ours_only]:
        if size >= LARGE:
            bench.note("pages", size, ours.NAME, partial(_pages, size))


def raw_limits(bench: Bench, sizes: Sequence[int], ours_only: Sequence[int]) -> None:
    """The limits of the database: COPY, a bare SKIP LOCKED loop, a cursor that is read to a file."""
    size = min(sizes)
    bench.note("limit-copy", size, limits.NAME, lambda: limits.copy_steps(bench.database, size))
    bench.note("limit-claims", size, limits.NAME, lambda: limits.claim_loop(bench.database, size, bench.seconds))
    bench.note("limit-cursor", size, limits.NAME, lambda: limits.read_to_file(bench.database, size))


def _export(bench: Bench, side: Side, size: int) -> Figures:
    project = bench.pool(side, size, labelled=True)
    with Memory(side.processes) as memory:
        begun = time.perf_counter()
        sent = side.export(project)
        seconds = time.perf_counter() - begun
    return {"rate": size / seconds, "seconds": seconds, "mb": memory.peak_mb, "bytes": sent}


def _figures_of(benchmark: str, *options: str) -> Any:
    """The figures of another benchmark of ours, which runs servers of its own."""
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "figures.json"
        command = [sys.executable, "-m", f"benchmarks.{benchmark}", *options, "--json", str(figures)]
        subprocess.run(command, cwd=ROOT, check=False)  # its status says whether all aims are reached
        return json.loads(figures.read_bytes())


def _scoring() -> Figures:
    found = _figures_of("serving", "--clients", "1", "64", "--ways", "batched")
    one, many = (load | {"rate": load["answered"] / load["seconds"]} for load in found["loads"])
    share = 100 * many["rate"] / max(found["offline"].values())
    return {"share": share, "rate": many["rate"], "tail": many["p95"] / many["mean"], "one": one["rate"]}


def _pages(size: int) -> Figures:
    found = _figures_of("pages", "--solutions", str(size), "--folder", str(FOLDER.parent / f"pages-{size}"))
    ms, listed = found["pages"], found["solutions"]
    named = {name: next(took for page, took in ms.items() if page.endswith(f"/{name}/")) for name in MANAGED}
    return {
        "search": max(listed[name] for name in SEARCHES),
        "late": listed[f"page {LATE_PAGE:,}"],
        "file": listed["file"] / 1000,
        "overview": min(ms.items(), key=lambda page: len(page[0]))[1],
        **named,
        "over": len(found["late"]),
    }


def _their_order(bench: Bench) -> Figures:
    side = bench.theirs
    project = side.make_project("Ranked", sampling="Uncertainty sampling")
    side.take_in(project, side.content(range(RANKED), labelled=False, scored=True))
    doors = [Door(side.address, person) for person in side.people[:ONE_AFTER_ANOTHER]]
    order = sorted(range(RANKED), key=score)
    side.join(project)
    places = []
    for door in doors:
        body = door.ask("GET", side.claim(project).path, raw=True)
        places.append(order.index(_number(body)) + 1)
    together = [side.sorted_by_score(project, person) for person in side.people[4 : 4 + ONE_AFTER_ANOTHER]]
    return {"places": places, "same": ONE_AFTER_ANOTHER - len(set(together)) + 1}


def _our_order(bench: Bench) -> Figures:
    side = bench.ours
    project = bench.pool(side, RANKED)
    asked = side.claim(project)
    given = [
        side.claimed(project, Door(side.address, person).ask(asked.method, asked.path, asked.body, raw=True)).id
        for person in side.people[:ONE_AFTER_ANOTHER]
    ]
    return {"places": side.places(project, given), "same": ONE_AFTER_ANOTHER - len(set(given)) + 1}


def _number(body: bytes) -> int:
    return int(json.loads(body)["data"]["number"])


ROWS: Mapping[str, Callable[[Bench, Sequence[int], Sequence[int]], None]] = {
    "import": imports,
    "claims": claims,
    "export": exports,
    "order": serving_order,
    "deletion": deletion,
    "scoring": scoring,
    "pages": pages,
    "limits": raw_limits,
}
