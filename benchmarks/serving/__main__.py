"""python -m benchmarks.serving: latency and throughput of POST /api/v1/score on a platform that it starts.

Closed-loop clients send one solution per request to web and worker processes, which run as in `make run`. "one by one"
is a worker that takes one request at a time; "batched" takes all waiting requests, up to 64; "beside pool scoring"
does so while the same worker scores a pool. "before" is "batched" by the checkout that `--against` names. The first
figures are those of the model alone, without a platform, on the same cores.

`--parts` prints where the time of a request goes with the most clients, measured in another run.
"""

import argparse
import platform as machine
from pathlib import Path

import msgspec

from benchmarks.serving.load import Load, bodies_of, drive
from benchmarks.serving.platform import ROOT, Platform, prepared, running, score_alone, score_pool, unscored

ALONE, BATCHED, BESIDE, BEFORE = "one by one", "batched", "beside pool scoring", "before"
WAYS = {ALONE: 1, BEFORE: 64, BATCHED: 64, BESIDE: 64}
WARM_UP = 3.0
AIM = 0.8  # of what the model alone scores


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.serving", description=__doc__)
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 4, 16, 64])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[ALONE, BATCHED, BESIDE])
    parser.add_argument("--seconds", type=float, default=10.0, help="measured for each number of clients")
    parser.add_argument("--pool", type=int, default=10_000, help="solutions to be scored beside")
    parser.add_argument("--against", type=Path, help="another checkout with the same migrations")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--port", type=int, default=8160)
    parser.add_argument("--json", type=Path, help="file for the figures")
    options = parser.parse_args()
    ways = [*([BEFORE] if options.against else []), *options.ways]
    loads: list[Load] = []
    folder = ROOT / "var" / "benchmarks" / "serving"
    with prepared(folder, options.port) as (launch, secret):
        bodies = bodies_of(512)

        def load(way: str, side: Platform, clients: int, warm_up: float, seconds: float) -> Load:
            return drive(
                way, side.address, secret, bodies, clients=clients, warm_up=warm_up, seconds=seconds, meter=side.used
            )

        offline = score_alone(folder, options.seconds)
        print(", ".join(f"{rate:.1f} solutions/s with {n} threads" for n, rate in offline.items()), flush=True)
        for way in ways:
            checkout = options.against.resolve() if way == BEFORE else ROOT
            with running(launch, batch=WAYS[way], checkout=checkout) as side:
                load(way, side, 2, 0, WARM_UP)
                if way == BESIDE:
                    score_pool(options.pool)
                for clients in options.clients:
                    loads.append(load(way, side, clients, WARM_UP, options.seconds))
                    print(line(loads[-1]), flush=True)
                if way == BESIDE:
                    print(f"{unscored():,} of the pool were still to be scored at the end.")
        print(table(loads, ways, max(offline.values())))
        print(processes(loads))
        for way in (BEFORE, BATCHED) if options.parts else ():
            if way not in ways:
                continue
            checkout = options.against.resolve() if way == BEFORE else ROOT
            with running(launch, batch=WAYS[way], checkout=checkout, by_part=True) as side:
                load(way, side, 2, 0, WARM_UP)
                print(parts(load(way, side, max(options.clients), WARM_UP, options.seconds)), flush=True)
    if options.json:
        figures = {
            "machine": machine.processor() or machine.machine(),
            "offline": offline,
            "loads": msgspec.to_builtins(loads),
        }
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_bytes(msgspec.json.format(msgspec.json.encode(figures)))


def line(one: Load) -> str:
    return (
        f"| {one.clients} | {one.way} | {one.rate:.1f} | {one.mean:,.0f} | {one.p50:,.0f} | {one.p95:,.0f} | "
        f"{one.p99:,.0f} | {one.refused} | {one.failed} |"
    )


def table(loads: list[Load], ways: list[str], offline: float) -> str:
    """The figures by number of clients, each with its share of the rate of the model alone."""
    head = (
        "| clients | way | solutions/s | mean ms | p50 ms | p95 ms | p99 ms | refused | failed | of the model alone |\n"
        "|---:|---|" + "---:|" * 8
    )
    rows = [
        f"{line(one)} {one.rate / offline:.0%} |"
        for one in sorted(loads, key=lambda one: (one.clients, ways.index(one.way)))
    ]
    return "\n".join(["", head, *rows, f"The aim is {AIM:.0%} of the model alone, {AIM * offline:.0f} solutions/s."])


def processes(loads: list[Load]) -> str:
    """Milliseconds of processor time per request by process, with the most clients."""
    most = max(one.clients for one in loads)
    chosen = [one for one in loads if one.clients == most]
    rows = [f"| {one.way} | {' | '.join(f'{ms:.2f}' for ms in one.used.values())} |" for one in chosen]
    names = " | ".join(chosen[0].used)
    return "\n".join(
        [
            f"\nCPU ms per request, {most} clients\n",
            f"| way | {names} |",
            f"|---|{'---:|' * len(chosen[0].used)}",
            *rows,
        ]
    )


def parts(one: Load) -> str:
    """Milliseconds per request by part: processor time, and with waiting."""
    names = [name.removeprefix("cpu ") for name in one.used if name.startswith("cpu ")]
    rows = [f"| {name} | {one.used[f'cpu {name}']:.2f} | {one.used[f'all {name}']:.2f} |" for name in names]
    rows += [f"| {name} (process) | {ms:.2f} | |" for name, ms in one.used.items() if name[:4] not in ("cpu ", "all ")]
    return "\n".join(["", f"{one.way}, {one.rate:.1f} solutions/s", "| part | CPU ms | ms |\n|---|---:|---:|", *rows])


if __name__ == "__main__":
    main()
