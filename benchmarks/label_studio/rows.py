"""The rows of the table, each measured at the requested sizes."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from benchmarks.label_studio import limits
from benchmarks.label_studio.bench import Bench, Figures
from benchmarks.label_studio.processes import Memory
from benchmarks.label_studio.solutions import score
from benchmarks.label_studio.web import Door
from benchmarks.label_studio.work import Side

RANKED = 2000
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
    "limits": raw_limits,
}
